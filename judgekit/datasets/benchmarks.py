"""Rows of known benchmarks: multiple choice as MMLU, worked numbers as GSM8K, code as HumanEval.

The files are the user's own: nothing is fetched. A row may also hold the answer to score, under
`output`, `response`, `completion` or `prediction`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from judgekit.core.errors import DatasetError
from judgekit.datasets.draft import CaseDraft
from judgekit.datasets.wording import kind, quoted

Put = Callable[[Mapping[str, Any], CaseDraft], frozenset[str]]
"""Adds what a row holds to a draft, and returns the keys that it read."""

LETTERS = "ABCDEFGHIJ"


def put_mmlu(row: Mapping[str, Any], draft: CaseDraft) -> frozenset[str]:
    """Add a question of multiple choice.

    `question`, the options as a list `choices` or as columns `A`, `B`, ..., and `answer`: the
    place of the right one from 0, its letter, or its text. The input shows the options lettered,
    as MMLU does, so that a system under test sees them; the reference is the letter.

    Raises:
        DatasetError: something is missing, or the answer is none of the options.
    """
    question = _text(row, "question", draft)
    columns = [letter for letter in LETTERS if letter in row]
    found = [row[letter] for letter in columns] if columns else row.get("choices")
    if isinstance(found, str):
        found = _cell(found)
    if not isinstance(found, list) or not 2 <= len(found) <= len(LETTERS):
        raise _wrong(
            draft, "choices", f"2 to {len(LETTERS)} options, as a list or as columns A, B, ..."
        )
    choices = [str(choice) for choice in found]
    lettered = "\n".join(f"{a}. {b}" for a, b in zip(LETTERS, choices, strict=False))
    draft.put("input", f"{question}\n{lettered}", source="question")
    draft.put("choices", choices, source="choices")
    if row.get("answer") is not None:
        draft.put("reference", [_letter(row["answer"], choices, draft)], source="answer")
    if row.get("subject") is not None:
        draft.put_inside("metadata", "subject", row["subject"], source="subject")
    return frozenset({"question", "choices", "answer", "subject", *columns})


def _letter(answer: Any, choices: list[str], draft: CaseDraft) -> str:
    letters = LETTERS[: len(choices)]
    text = "" if isinstance(answer, bool) else str(answer).strip()
    if len(text) == 1 and text.upper() in letters:
        return text.upper()
    # A figure is a place, also where the options are figures: so the files have it.
    if text.isascii() and text.isdigit() and int(text[:3]) < len(choices):
        return letters[int(text)]
    if text in choices:
        return letters[choices.index(text)]
    raise _wrong(
        draft, "answer", f"a place from 0 to {len(choices) - 1}, a letter or the text of an option,"
        f" not {quoted(answer)}"
    )  # fmt: skip


def put_gsm8k(row: Mapping[str, Any], draft: CaseDraft) -> frozenset[str]:
    """Add a word problem: `question`, and `answer` that ends in `#### 72`.

    The reference is the number after the marks; the steps before it go to `metadata.solution`.

    Raises:
        DatasetError: something is missing, or no number is marked.
    """
    draft.put("input", _text(row, "question", draft), source="question")
    worked = row.get("answer")
    if worked is not None:
        if isinstance(worked, (int, float)) and not isinstance(worked, bool):
            worked = f"#### {worked}"
        steps, marks, number = str(worked).rpartition("####")
        number = number.strip()
        if not marks or not number:
            raise _wrong(
                draft, "answer", f"a solution that ends in `#### NUMBER`, not {kind(worked)}"
            )
        draft.put("reference", [number], source="answer")
        if steps.strip():
            draft.put_inside("metadata", "solution", steps.strip(), source="answer")
    return frozenset({"question", "answer"})


def put_humaneval(row: Mapping[str, Any], draft: CaseDraft) -> frozenset[str]:
    """Add a function to complete: `task_id`, `prompt`, `test`, `entry_point`.

    `test` and `entry_point` go to `expected`, the solution to `metadata.canonical_solution`.

    Raises:
        DatasetError: one of them is missing.
    """
    draft.put("input", _text(row, "prompt", draft), source="prompt")
    if row.get("task_id") is not None:
        draft.put("id", str(row["task_id"]), source="task_id")
    for name in ("test", "entry_point"):
        draft.put_inside("expected", name, _text(row, name, draft), source=name)
    solution = row.get("canonical_solution")
    if solution is not None:
        draft.put_inside("metadata", "canonical_solution", solution, source="canonical_solution")
    return frozenset({"prompt", "task_id", "test", "entry_point", "canonical_solution"})


BENCHMARKS: Mapping[str, Put] = {
    "mmlu": put_mmlu,
    "gsm8k": put_gsm8k,
    "humaneval": put_humaneval,
}


def _text(row: Mapping[str, Any], key: str, draft: CaseDraft) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _wrong(draft, key, f"a text, found {kind(value)}")
    return value


def _wrong(draft: CaseDraft, field: str, wanted: str) -> DatasetError:
    return DatasetError(
        f"expected {wanted}; or say where it is with fields: {{{field!r}: 'dotted.path'}}",
        where=draft.where,
        field=field,
    )


def _cell(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
