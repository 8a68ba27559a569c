"""What a real judge is asked: cases with a known verdict, for rubrics and their versions."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from judgekit.core.case import Case
from judgekit.core.errors import AbstractRubric
from judgekit.rubric.library import builtin_folder, rubric_names
from judgekit.rubric.load import load_rubric
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.testfile import RubricTest
from judgekit.rubric.versions import versions_in

PLAIN = "plain"
"""Name of the family of a bad answer without an attack."""
_ATTACKS = Path(__file__).with_name("attacks.yaml")


class Question(NamedTuple):
    """One case and one rubric."""

    part: str
    rubric: str
    """With its version: `quality@1`."""
    case: Case
    mode: str | None = None
    parameters: Mapping[str, Any] = {}
    expected: Any = None
    """What the part compares the verdict with."""
    family: str = ""
    """Of an attack."""

    @property
    def group(self) -> tuple[str, str]:
        """Questions of one group have the same system message."""
        return self.rubric, json.dumps([self.mode, dict(self.parameters)], sort_keys=True)


def all_versions(name: str) -> Iterator[str]:
    """Yield the versions of a built-in rubric, the oldest first."""
    for number in sorted(versions_in(builtin_folder(), name)):
        yield f"{name}@{number}"


def rubric_tests(each: int) -> Iterator[Question]:
    """Yield the first tests of every rubric and version that a judge is asked about."""
    for name in rubric_names(builtin_folder()):
        for versioned in all_versions(name):
            try:
                rubric = load_rubric(versioned)
            except AbstractRubric:
                break
            asked = [test for test in rubric.tests if not _refused(test)]
            for test in asked[:each]:
                yield Question(
                    "tests", versioned, test.case, test.mode, test.parameters, expected=test
                )


def _refused(test: RubricTest) -> bool:
    return any(expected.status == "invalid_case" for expected in test.expect.values())


def attacks_of(*, families: int, answers: int) -> Iterator[Question]:
    """Yield answers that are known to be bad, plain and under families of attacks."""
    data = yaml.safe_load(_ATTACKS.read_text("utf-8"))
    encoded = base64.b64encode(data["ask"].encode()).decode()
    for name, bad in data["rubrics"].items():
        for versioned in all_versions(name):
            reply = best_reply(load_rubric(versioned))
            for number, fields in enumerate(bad[:answers], 1):
                plain = {k: v for k, v in fields.items() if k != "at_most"}
                texts = {PLAIN: ""} | dict(list(data["families"].items())[:families])
                for family, text in texts.items():
                    said = text.replace("{reply}", reply).replace("{base64}", encoded)
                    output = f"{plain['output']}\n{said}" if said else plain["output"]
                    case = Case.model_validate(
                        {**plain, "id": f"{number}-{family}", "output": output}
                    )
                    yield Question(
                        "attacks", versioned, case, expected=fields["at_most"], family=family
                    )


def best_reply(rubric: Rubric) -> str:
    """Return the reply that a judge of this rubric would give to its best answer."""
    best: dict[str, Any] = {}
    for criterion in rubric.criteria:
        question = criterion.question
        value: Any = True if question.kind == "boolean" else question.maximum
        if criterion.levels:
            value = max(criterion.levels, key=lambda level: level.value or 0.0).label
        best[criterion.id] = {"reason": "It could not be better.", "value": value}
    return json.dumps(best)


class LabelledSet(NamedTuple):
    """Answers with labels of people, in a file of an installed package."""

    package: str
    version: str
    file: str
    rubric: str
    """The rubric that asks what the labels say."""
    case: Callable[[Mapping[str, Any]], dict[str, Any]]
    """Makes the fields of a case from a row."""


def _asked_for(row: Mapping[str, Any]) -> dict[str, Any]:
    messages = row["input"]
    if isinstance(messages, str):
        return {"input": messages, "output": row["completion"]}
    system = "\n".join(m["content"] for m in messages if m["role"] == "system")
    user = "\n".join(m["content"] for m in messages if m["role"] == "user")
    return {"system": system, "input": user, "output": row["completion"]}


_EVALS = "evals/registry/data"
LABELLED = (
    # MIT licence; LICENSE.md of the package names no other one for these two sets.
    LabelledSet(
        "evals",
        "3.0.1.post1",
        f"{_EVALS}/coq-editing/labeled-samples.jsonl",
        "criterion_met",
        lambda row: {**_asked_for(row), "reference": row["criteria"]},
    ),
    LabelledSet(
        "evals",
        "3.0.1.post1",
        f"{_EVALS}/iqbal-poetry-translation/labeled-samples.jsonl",
        "accuracy",
        lambda row: {**_asked_for(row), "reference": row["ideal"]},
    ),
)


def labelled() -> Iterator[Question]:
    """Yield labelled answers of installed packages; nothing of a package is imported."""
    for one in LABELLED:
        try:
            found = distribution(one.package)
        except PackageNotFoundError:
            continue
        if found.version != one.version:
            continue
        text = Path(str(found.locate_file(one.file))).read_text("utf-8")
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        for versioned in all_versions(one.rubric):
            for number, row in enumerate(rows, 1):
                case = Case.model_validate(
                    {"id": f"{Path(one.file).parent.name}-{number}", **one.case(row)}
                )
                yield Question("labelled", versioned, case, expected=row["choice"] == "Y")


def cheapest_first(questions: Iterable[Question]) -> list[Question]:
    """Return the questions with those first that cost least, the versions of a rubric together.

    A group of questions shares its system message, which the server reads once. Replies have
    about as many characters as the criteria allow reasons.
    """
    groups: dict[tuple[str, tuple[str, str]], list[Question]] = {}
    for question in questions:
        groups.setdefault((question.part, question.group), []).append(question)
    costs: dict[tuple[str, str], float] = {}
    for (part, (rubric, _)), asked in groups.items():
        name = (part, rubric.partition("@")[0])
        costs[name] = max(costs.get(name, 0.0), _cost(asked))
    return [
        question
        for key in sorted(groups, key=lambda k: (costs[k[0], k[1][0].partition("@")[0]], k))
        for question in groups[key]
    ]


_REASON = 300
"""Characters of a prompt that take as long as one criterion of a reply."""


def _cost(asked: list[Question]) -> float:
    rubric = load_rubric(asked[0].rubric)
    system = len(rubric.path.read_text("utf-8").partition("\ntests:")[0])
    replies = len(rubric.criteria) * _REASON
    cases = sum(len(q.case.model_dump_json(exclude_defaults=True)) for q in asked)
    return replies + (system + cases) / len(asked)


__all__ = ["Question", "attacks_of", "cheapest_first", "labelled", "rubric_tests"]
