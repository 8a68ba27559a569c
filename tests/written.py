"""What may stand in a case, as examples to draw from."""

from __future__ import annotations

from hypothesis import strategies as st

from judgekit.core.case import Message, ToolCall

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
CALLS = st.builds(ToolCall, name=TEXT, arguments=JSON, id=st.none() | TEXT)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=TEXT,
    name=st.none() | TEXT,
    tool_calls=st.lists(CALLS, max_size=2),
)
