"""Models without a system role: which errors say so, and what is sent then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import judgekit.judges.system_role as module
from judgekit.judges.system_role import SystemRole

SYSTEM, USER = {"role": "system", "content": "Judge."}, {"role": "user", "content": "Rate this."}
REFUSALS = [
    "System role not supported",
    "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    "Error: Jinja Exception: System role not supported",
    "This model doesn't support system prompts.",
    "Developer instruction is not enabled for models/gemma-3-27b-it",
    "Conversation roles must alternate user/assistant/user/assistant/...",
    "Only user and assistant roles are supported!",
]


@pytest.mark.parametrize("error", REFUSALS)
def test_errors_about_the_role_leave_it(error: str) -> None:
    role = SystemRole("m")

    assert role.placed([SYSTEM, USER]) == [SYSTEM, USER]
    assert role.leave(error)
    assert role.placed([SYSTEM, USER]) == [{"role": "user", "content": "Judge.\n\nRate this."}]
    assert role.refused == error


@pytest.mark.parametrize(
    "error",
    [
        "",
        "The operating system is overloaded",
        "parameter 'seed' is not supported",
        "the role of the assistant is unclear",
        "Your account has no system access",
    ],
)
def test_other_errors_leave_nothing(error: str) -> None:
    role = SystemRole("m")

    assert not role.leave(error)
    assert role.placed([SYSTEM, USER]) == [SYSTEM, USER]


def test_each_system_message_begins_the_user_message_after_it() -> None:
    role, reply = SystemRole("m"), {"role": "assistant", "content": "4"}
    role.leave(REFUSALS[0])

    sent = role.placed([SYSTEM, SYSTEM, USER, reply, SYSTEM])

    assert [(m["role"], m["content"]) for m in sent] == [
        ("user", "Judge.\n\nJudge.\n\nRate this."),
        ("assistant", "4"),
        ("user", "Judge."),
    ]


def test_each_row_of_the_table_has_words_and_a_source() -> None:
    rows = json.loads(Path(module._DATA).read_text("utf-8"))["errors"]

    for row in rows:
        assert row["source"]
        assert row["words"]
        assert all(word == word.casefold() for word in row["words"])
