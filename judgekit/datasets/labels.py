"""Human labels of cases, from a JSON Lines file.

A line names a case, a metric (or its rubric) and optionally a labeller, and contains a label in one
of three forms. The first is also the form of a manual judge's answers:

    {"case": "c1", "metric": "tone", "answers": {"polite": {"value": "good", "reason": "..."}}}
    {"case": "c1", "metric": "tone", "labeller": "ann", "values": {"polite": "good"}}
    {"case": "c1", "metric": "tone", "labeller": "bob", "value": 0.75}

A line with `value` may have a `reason`. `output_digest` identifies the labelled output (see
`judgekit.core.case.output_digest`); without it, a label matches any output of the case.
`probability` is the probability with which a sampling plan chose the case, above 0 and at most 1.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from judgekit.core.errors import ConfigError, InvalidReply, place
from judgekit.core.input_file import bounded_lines, nearby, undecodable
from judgekit.core.json_extraction import extract_object
from judgekit.core.request import Question
from judgekit.core.suggest import suggest

MAX_LINE = 5_000_000
"""Maximum length of a line, in characters."""
_DIGEST = re.compile("[0-9a-f]{16}")
_KEYS = {"case", "metric", "rubric", "labeller", "answers", "details", "values", "value",
         "reason", "output_digest", "probability"}  # fmt: skip


Topic = tuple[str, str | None]
"""A metric and a criterion; `None` for the metric's own value."""


class Label(NamedTuple):
    """One label: a person's answer about one case and metric."""

    case: str
    metric: str
    criterion: str | None
    """`None` for the metric's own value or verdict."""
    labeller: str
    """Empty if the line does not name a labeller."""
    value: float | bool | str | None
    """`None` if the person could not decide."""
    output: str | None = None
    """Digest of the labelled output; `None` if the line has none."""
    probability: float | None = None
    """The probability with which a sampling plan chose the case; `None` without a plan."""
    reason: str = ""
    """The person's reason for the answer."""

    @property
    def identity(self) -> tuple[str | None, ...]:
        """The key that must be unique in a file: the label without its answer."""
        # A plain tuple of texts, which the garbage collector stops tracking.
        return (self.case, self.metric, self.criterion, self.labeller, self.output)


def of_output(labels: Iterable[Label], digest: str) -> dict[Topic, dict[str, Label | None]]:
    """Return the labels of one output of a case, by topic and labeller.

    A label without a digest matches any output, unless the labeller also has one with the digest.
    The value is `None` if all labels of a labeller are about other outputs.
    """
    chosen: dict[Topic, dict[str, Label | None]] = {}
    for label in labels:
        people = chosen.setdefault((label.metric, label.criterion), {})
        known = people.setdefault(label.labeller, None)
        if label.output == digest or (label.output is None and known is None):
            people[label.labeller] = label
    return chosen


def read_labels(path: Path) -> Iterator[Label]:
    """Yield the labels of a file.

    Raises:
        ConfigError: with `file:line`, for a line that is not a label or repeats one.
    """
    lines_by_label: dict[tuple[str | None, ...], int] = {}
    for number, label in read_label_lines(path):
        first = lines_by_label.setdefault(label.identity, number)
        if first != number:
            raise ConfigError(f"{describe(label)} is labelled twice, first in line {first}",
                              where=place(path, number))  # fmt: skip
        yield label


def read_label_lines(path: Path) -> Iterator[tuple[int, Label]]:
    """Yield the labels of a file with their lines; labels may be repeated.

    Raises:
        ConfigError: with `file:line`, for a line that is not a label.
    """
    name = str(path)
    with reading_labels(path), path.open(encoding="utf-8-sig", newline="\n") as lines:
        for number, line in enumerate(bounded_lines(lines, most=MAX_LINE), start=1):
            if line.strip():
                where = place(name, number)
                for label in labels_of(_parsed(line, where), where):
                    yield number, label


@contextmanager
def reading_labels(path: Path) -> Iterator[None]:
    """Translate errors of reading a file of labels to one line.

    Raises:
        ConfigError: the file does not exist or cannot be read.
    """
    try:
        yield
    except FileNotFoundError as exc:
        hint = nearby(path) or "; check the path"
        raise ConfigError(f"no such file of labels{hint}", where=str(path)) from exc
    except UnicodeDecodeError as exc:
        if path.suffix.lower() in _TABLES:
            raise ConfigError(_table_advice(path), where=str(path)) from exc
        problem, line = _first_wrong_byte(path) or undecodable(exc)
        raise ConfigError(problem, where=place(str(path), line)) from exc
    except OSError as exc:
        raise ConfigError(f"labels cannot be read: {exc.strerror}", where=str(path)) from exc


def _first_wrong_byte(path: Path) -> tuple[str, int] | None:
    """Return what is wrong with the bytes of a file, and the line.

    The error of a file that is open as text has only a part of the file, and no line.
    """
    before = 0
    with path.open("rb") as lines:
        for number, line in enumerate(bounded_lines(lines, most=MAX_LINE), start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as exc:
                return undecodable(exc, before=before)[0], number
            before += len(line)
    return None


_TABLES = {".csv", ".tsv", ".xlsx", ".xlsm", ".parquet"}


def describe(label: Label) -> str:
    """Return a short description of the subject of a label."""
    topic = label.metric if label.criterion is None else f"{label.metric}, {label.criterion}"
    by = f" by {label.labeller}" if label.labeller else ""
    return f"case {label.case!r}, {topic}{by},"


def _table_advice(file: Path) -> str:
    return f"a table; make labels of it: judgekit labels import {file} > labels.jsonl"


def _parsed(line: str, where: str) -> dict[str, Any]:
    try:
        return extract_object(line)[0]
    except InvalidReply as exc:
        file = Path(where.rpartition(":")[0])
        if file.suffix.lower() in _TABLES:
            raise ConfigError(_table_advice(file), where=where) from exc
        hint = "`judgekit labels import` reads tables"
        raise ConfigError(f"not a label: {exc}; {hint}", where=where) from exc


def labels_of(data: Mapping[str, Any], where: str) -> Iterator[Label]:
    """Yield the labels of one line.

    Args:
        data: the object in the line.
        where: its location, for messages.

    Raises:
        ConfigError: it is not a label.
    """
    unknown = sorted(set(data) - _KEYS)
    if unknown:
        raise ConfigError(f"unknown key {unknown[0]!r}{suggest(unknown[0], _KEYS)}", where=where)
    case, metric = data.get("case"), data.get("metric") or data.get("rubric")
    labeller = data.get("labeller", "")
    if not (isinstance(case, str) and isinstance(metric, str) and isinstance(labeller, str)):
        raise ConfigError("needs 'case' and 'metric' (or 'rubric'), as texts", where=where)
    output = data.get("output_digest")
    if not (output is None or (isinstance(output, str) and _DIGEST.fullmatch(output))):
        raise ConfigError("'output_digest' must be 16 hex digits", where=where)
    chance = _probability(data.get("probability"), where)
    if not data.keys() & {"answers", "values", "value"}:
        raise ConfigError("no label: needs 'value', 'values' or 'answers'", where=where)
    if "value" in data:
        value = _plain(data["value"], "value", where)
        yield Label(case, metric, None, labeller, value, output, chance, _reason(data))
    for key in ("answers", "values"):
        criteria = data.get(key, {})
        if not isinstance(criteria, dict):
            raise ConfigError(f"{key!r} must be {{criterion: ...}}", where=where)
        for criterion, answer in criteria.items():
            reason = ""
            if key == "answers":
                if not isinstance(answer, dict):
                    raise ConfigError(f"{criterion}: an answer is {{value: ...}}", where=where)
                reason = _reason(answer)
                answer = _answer_value(answer)  # noqa: PLW2901
            value = _plain(answer, criterion, where)
            yield Label(case, metric, str(criterion), labeller, value, output, chance, reason)


LEAST_PROBABILITY = 1e-9
"""The least probability of a label: a weight of a billion is no plan, and smaller ones overflow."""


def _probability(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1:
        raise ConfigError("'probability' must be above 0 and at most 1", where=where)
    if value < LEAST_PROBABILITY:
        why = f"'probability' {value:g} is below {LEAST_PROBABILITY:g}; no plan draws so rarely"
        raise ConfigError(why, where=where)
    return float(value)


def _reason(answer: Mapping[str, Any]) -> str:
    reason = answer.get("reason")
    return reason if isinstance(reason, str) else ""


def _answer_value(answer: dict[str, Any]) -> Any:
    """Return the value of an answer; for a checklist, the share of items that are met."""
    items = answer.get("items")
    if "value" in answer or not isinstance(items, list):
        return answer.get("value")
    met = [item.get("met") is True for item in items if isinstance(item, dict)]
    return sum(met) / len(met) if met else None


def _plain(value: Any, name: str, where: str) -> float | bool | str | None:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ConfigError(f"{name}: must be a number, a word, true, false or null", where=where)


LabelAnswer = float | bool | str | None
VERDICTS = {"yes": True, "true": True, "pass": True, "passed": True,
            "no": False, "false": False, "fail": False, "failed": False}  # fmt: skip
_INITIALS = {"y": True, "t": True, "n": False, "f": False}
_SIDES = ("model", "answer", "response", "assistant", "output", "option")
"""Words before the letter of an answer, as in `model_a` of the Arena's votes."""
_EVEN = frozenset({"tie", "tied", "draw", "equal", "both", "neither", "tie (bothbad)", "bothbad",
                   "both bad", "both_bad"})  # fmt: skip
"""Words for a tie of two answers, for a question that has the word `tie`."""
_UNDECIDED = "null"
"""The word for "the person could not decide"."""


def read_answer(value: object, question: Question | None) -> LabelAnswer:
    """Parse the answer in a cell or a choice.

    Args:
        value: a JSON value; a text may be a number, yes or no. A number may stand for the word that
            is written like it, and `model_a` or `answer b` for the words A and B.
        question: the question; `None` if it is unknown.

    Raises:
        ValueError: it is not a valid answer; the message lists the valid ones.
    """
    if isinstance(value, str):
        value = _from_text(" ".join(value.split()), question)
    elif question is not None and question.labels and is_number(value):
        value = _from_text(f"{value:g}", question)
    if question is not None and question.kind == "boolean" and value in (0, 1):
        value = bool(value)
    if not (value is None or isinstance(value, (bool, int, float, str))):
        raise ValueError("an answer must be a word, a number, yes or no")
    if question is not None and (problem := answer_problem(value, question)):
        raise ValueError(problem)
    return value


def _from_text(text: str, question: Question | None) -> LabelAnswer:
    folded = text.casefold()
    if question is not None and question.labels:
        return _word_of(text, question.labels)
    if folded == _UNDECIDED:
        return None
    kind = question.kind if question is not None else None
    if kind in (None, "boolean") and folded in VERDICTS:
        return VERDICTS[folded]
    if kind == "boolean" and folded in _INITIALS:
        return _INITIALS[folded]
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def _word_of(text: str, labels: Sequence[str]) -> str:
    """Return the word of a question that a text stands for, or the text."""
    folded = text.casefold()
    known = {label.casefold(): label for label in labels}
    written = [folded, folded.removesuffix(".0")]
    for word in _SIDES:
        rest = folded.removeprefix(word)
        letter = rest.lstrip(" _-")
        if rest != folded and len(letter) == 1 and letter.isalpha():
            written.append(letter)
    if folded in _EVEN:
        written.append("tie")
    return next((known[form] for form in written if form in known), text)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number; yes and no are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def answer_problem(answer: LabelAnswer, question: Question) -> str | None:
    """Return why an answer to a question is invalid; `None` if it is valid or undecided."""
    if answer is None:
        return None
    if question.labels:
        known = {label.casefold() for label in question.labels}
        if isinstance(answer, str) and " ".join(answer.split()).casefold() in known:
            return None
        words = list(question.labels)
        hint = suggest(answer, words) if isinstance(answer, str) else f"; known: {', '.join(words)}"
        return f"{answer!r} is no answer to {question.id!r}{hint}"
    if question.kind == "boolean":
        return None if isinstance(answer, bool) else _expected(answer, question, "yes or no")
    low, high = bounds(question)
    if isinstance(answer, (bool, str)) or not low <= answer <= high:
        return _expected(answer, question, f"a number from {low:g} to {high:g}")
    return None


def _expected(answer: LabelAnswer, question: Question, what: str) -> str:
    return f"{answer!r} is no answer to {question.id!r}, which is {what}"


def bounds(question: Question) -> tuple[float, float]:
    """Return the bounds of a number; for a checklist, of the share of items."""
    checklist = question.kind == "checklist"
    return (0.0, 1.0) if checklist else (question.minimum, question.maximum)
