"""Rows of benchmarks: multiple choice (MMLU), word problems (GSM8K), code (HumanEval).

The user provides the files; nothing is downloaded. A row may also contain the answer to score, as
`output`, `response`, `completion` or `prediction`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from judgekit.datasets.case_fields import CaseFields
from judgekit.datasets.formatting import kind, quoted
from judgekit.datasets.json_text import to_json_or_text
from judgekit.datasets.row_builder import RowFault

Put = Callable[[Mapping[str, Any], CaseFields], frozenset[str]]
"""Adds the values of a row to the fields and returns the keys that it read."""

LETTERS = "ABCDEFGHIJ"


def put_mmlu(row: Mapping[str, Any], fields: CaseFields) -> frozenset[str]:
    """Add a multiple-choice question.

    The row has `question`, the options as a list `choices` or as columns `A`, `B`, ..., and
    `answer`: the index (from 0), letter or text of the correct option. The input lists the options
    with letters, like MMLU, so a system under test sees them. The reference is the letter.

    Raises:
        RowFault: a key is missing, or the answer is not an option.
    """
    question = _text(row, "question")
    columns = [letter for letter in LETTERS if letter in row]
    options = [row[letter] for letter in columns] if columns else row.get("choices")
    options = to_json_or_text(options)
    if not isinstance(options, list) or not 2 <= len(options) <= len(LETTERS):
        expected = f"2 to {len(LETTERS)} options, as a list or as columns A, B, ..."
        raise _wrong("choices", expected)
    choices = [str(choice) for choice in options]
    lettered = "\n".join(f"{a}. {b}" for a, b in zip(LETTERS, choices, strict=False))
    fields.put("input", f"{question}\n{lettered}", source="question")
    fields.put("choices", choices, source="choices")
    if row.get("answer") is not None:
        letter = _letter(row["answer"], choices)
        fields.put("reference", [letter], source="answer")
        if letter in choices:  # the letter is also the text of an option, perhaps of another one
            fields.put_inside("expected", "correct_index", LETTERS.index(letter), source="answer")
    if row.get("subject") is not None:
        fields.put_inside("metadata", "subject", row["subject"], source="subject")
    return frozenset({"question", "choices", "answer", "subject", *columns})


def _letter(answer: Any, choices: list[str]) -> str:
    letters = LETTERS[: len(choices)]
    text = "" if isinstance(answer, bool) else str(answer).strip()
    label = text if text in choices else text.strip("()[]. :")
    if len(label) == 1 and label.upper() in letters:
        return label.upper()
    text = text if text in choices else label
    # A number is an index, even if the options are numbers, as in MMLU's files.
    if text.isascii() and text.isdigit() and int(text[:3]) < len(choices):
        return letters[int(text)]
    if text in choices:
        return letters[choices.index(text)]
    expected = f"a place from 0 to {len(choices) - 1}, a letter or the text of an option"
    raise _wrong("answer", f"{expected}, not {quoted(answer)}")


def put_gsm8k(row: Mapping[str, Any], fields: CaseFields) -> frozenset[str]:
    """Add a word problem: `question`, and `answer` that ends in `#### 72`.

    The reference is the number after `####`; the steps before it go to `metadata.solution`.

    Raises:
        RowFault: a key is missing, or there is no number after `####`.
    """
    fields.put("input", _text(row, "question"), source="question")
    worked = row.get("answer")
    if worked is not None:
        if isinstance(worked, (int, float)) and not isinstance(worked, bool):
            worked = f"#### {worked}"
        steps, marks, number = str(worked).rpartition("####")
        number = number.strip()
        if not marks or not number:
            raise _wrong("answer", f"a solution that ends in `#### NUMBER`, not {kind(worked)}")
        fields.put("reference", [number], source="answer")
        if steps.strip():
            fields.put_inside("metadata", "solution", steps.strip(), source="answer")
    return frozenset({"question", "answer"})


def put_humaneval(row: Mapping[str, Any], fields: CaseFields) -> frozenset[str]:
    """Add a code completion task: `task_id`, `prompt`, `test`, `entry_point`.

    `test` and `entry_point` go to `expected`, the solution goes to `metadata.canonical_solution`.

    Raises:
        RowFault: one of them is missing.
    """
    fields.put("input", _text(row, "prompt"), source="prompt")
    if row.get("task_id") is not None:
        fields.put("id", str(row["task_id"]), source="task_id")
    for name in ("test", "entry_point"):
        fields.put_inside("expected", name, _text(row, name), source=name)
    solution = row.get("canonical_solution")
    if solution is not None:
        fields.put_inside("metadata", "canonical_solution", solution, source="canonical_solution")
    return frozenset({"prompt", "task_id", "test", "entry_point", "canonical_solution"})


BENCHMARKS: Mapping[str, Put] = {
    "mmlu": put_mmlu,
    "gsm8k": put_gsm8k,
    "humaneval": put_humaneval,
}


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _wrong(key, f"a text, found {kind(value)}")
    return value


def _wrong(field: str, expected: str) -> RowFault:
    remedy = f"or say where it is with fields: {{{field!r}: 'dotted.path'}}"
    return RowFault(f"expected {expected}; {remedy}", field)
