"""The replies of the assistant in a session, turn by turn."""

from __future__ import annotations

from typing import Literal

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError

Scope = Literal["session", "last"]


def replies(case: Case, scope: Scope = "session") -> list[str]:
    """Return the replies of the history and the output, or only the output.

    Turns without text, such as bare tool calls, are left out.

    Raises:
        CaseError: the assistant said nothing.
    """
    texts = [m.content for m in case.history if m.role == "assistant"] if scope == "session" else []
    texts = [text for text in (*texts, case.output or "") if has_text(text)]
    if not texts:
        needed = "an output" if scope == "last" else "an output, or assistant turns in its history"
        raise CaseError(f"needs {needed} (field 'output')")
    return texts
