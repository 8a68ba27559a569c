"""The list of metrics and the explanation of one, for `judgekit metrics`."""

from __future__ import annotations

import inspect
import json
import shlex
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

from judgekit.authoring.judged_fields import judged_fields
from judgekit.core.errors import AbstractRubric, ConfigError, JudgekitError, RubricError
from judgekit.core.protocols import Card, CardExample
from judgekit.core.score import Failure, Result
from judgekit.datasets import load_cases
from judgekit.metrics.adapter import class_facts
from judgekit.metrics.cards import card_of, options_of
from judgekit.metrics.catalogue import BUILTIN, FAMILIES, Entry
from judgekit.metrics.registry import create_metric, find, metric_names
from judgekit.rubric.asked import sees_lines
from judgekit.rubric.display import rubric_data, rubric_text
from judgekit.rubric.library import library_names
from judgekit.rubric.load import load_rubric
from judgekit.runner.evaluation import score_sync

NAME_WIDTH = 27


class ListedMetric(NamedTuple):
    """A metric in the list of all."""

    name: str
    family: str
    kind: str
    """`judged`, `computed`, or `plugin` for one of an installed package."""
    summary: str


def listed_metrics() -> list[ListedMetric]:
    """Return every metric by family."""
    rubrics = sorted(set(library_names()) - set(BUILTIN))
    plugins = [name for name in metric_names() if name not in BUILTIN and name not in rubrics]
    listed = [
        ListedMetric(e.name, family, "judged" if e.judged else "computed", e.summary)
        for family, group in FAMILIES.items()
        for e in group
    ]
    listed += [one for name in rubrics for one in _listed_rubric(name)]
    text = "from an installed package"
    return [*listed, *(ListedMetric(name, "plugins", "plugin", text) for name in plugins)]


def list_text() -> str:
    """Return every metric by family: name, judged or computed, summary."""
    blocks: dict[str, list[str]] = {}
    for one in listed_metrics():
        line = f"{one.name:<{NAME_WIDTH}}{one.kind:<10}{one.summary}"
        blocks.setdefault(one.family, [f"# {one.family}"]).append(line)
    return "\n\n".join("\n".join(lines) for lines in blocks.values()) + "\n"


def _listed_rubric(name: str) -> Iterator[ListedMetric]:
    try:
        yield ListedMetric(name, "rubrics", "judged", load_rubric(name).description)
    except AbstractRubric:
        return
    except RubricError as exc:
        yield ListedMetric(name, "rubrics", "judged", f"does not load: {exc}")


def metric_text(name: str, *, width: int = 80) -> str:
    """Return the explanation of a metric, with its example computed now.

    Raises:
        ConfigError: no metric has that name.
    """
    if name not in BUILTIN and name in library_names():
        rubric = load_rubric(name)
        return rubric_text(rubric, sees=sees_lines(rubric))
    return "\n".join(_explained(*_entry(name), width)) + "\n"


def _entry(name: str) -> tuple[Entry, Any]:
    """Return the entry of a metric and its class or function."""
    maker = find(name)
    plugin = Entry(name, "", "from an installed package", judged=maker.judged)
    return BUILTIN.get(name, plugin), maker.factory


def metric_data(name: str) -> dict[str, Any]:
    """Return the facts about a metric as JSON values; those of the rubric for one of a rubric.

    Raises:
        ConfigError: no metric has that name.
    """
    if name not in BUILTIN and name in library_names():
        rubric = load_rubric(name)
        data = rubric_data(rubric, sees=sees_lines(rubric))
        return {"name": name, "judged": True, "summary": rubric.description, "rubric": data}
    entry, metric = _entry(name)
    facts = class_facts(metric)
    card = card_of(entry.name) or facts.card
    options = options_of(metric, None if card is None else card.options)
    data = {
        "name": entry.name,
        "summary": entry.summary,
        "judged": entry.judged,
        "range": list(facts.range),
        "higher_is_better": facts.higher_is_better,
        "needs": list(facts.needs),
        "without_judge": entry.stand_in or None,
        "options": [one._asdict() for one in options],
    }
    if card is not None:
        data |= {"formula": card.formula, "source": card.source, "empty": card.empty}
        example = {"case": dict(card.example.case), "options": dict(card.example.options)}
        data["example"] = example
    return data


def _explained(entry: Entry, metric: Any, width: int) -> Iterator[str]:
    facts = class_facts(metric)
    card = card_of(entry.name) or facts.card
    low, high = facts.range
    better = "higher" if facts.higher_is_better else "lower"
    yield f"{entry.name}: {entry.summary}"
    yield ""
    yield from _text(documentation_of(metric) if card is None else card.about, width)
    yield ""
    rows = {"range": f"{low:g} to {high:g}, {better} is better"}
    judge = "a model's log-probabilities" if wants_logprobs(metric) else "a judge"
    rows["made by"] = judge if entry.judged else "computation, without a judge"
    if entry.judged:
        rows["without a judge"] = entry.stand_in or "no computed fallback; give the suite one"
    if card is not None:
        rows |= {"formula": card.formula, "source": card.source, "needs": ", ".join(facts.needs)}
        rows["confidence"] = facts.confidence or (
            card.no_confidence and f"none: {card.no_confidence}"
        )
        rows |= {"empty input": card.empty, "compatible": card.modes}
        rows |= sees_rows(entry.name)
    for title, text in rows.items():
        if text:
            yield from _field(title, text, width)
    yield ""
    yield "options"
    for option in options_of(metric, None if card is None else card.options):
        yield f"  {option.name}: {'(required)' if option.default is None else option.default}"
        kind = option.kind.replace("`", "")
        text = f"{kind[:1].upper()}{kind[1:]}. {option.says}".strip()
        yield from textwrap.wrap(text, width, initial_indent=" " * 6, subsequent_indent=" " * 6)
    if card is not None:
        yield ""
        yield from _example(entry, card, width)


@cache
def sees_rows(name: str) -> dict[str, str]:
    """Return which fields of a case the judge of a metric sees, and which it never does."""
    maker = find(name)
    card = card_of(name) or class_facts(maker.factory).card
    if not maker.judged or card is None:
        return {}
    try:
        seen, never = judged_fields(partial(create_metric, name), card.example)
    except JudgekitError:  # a metric of another package may need more than a judge
        return {}
    who = "model" if wants_logprobs(maker.factory) else "judge"
    return {f"{who} sees": ", ".join(seen), "never sees": ", ".join(never)}


def wants_logprobs(metric: Any) -> bool:
    """Return whether a metric needs log-probabilities instead of a verdict."""
    return class_facts(metric).asks == "logprobs"


def documentation_of(metric: Any) -> str:
    """Return the docstring of a metric's class or function, up to its sections."""
    text = inspect.getdoc(getattr(metric, "function", metric)) or ""
    for section in ("\nArgs:", "\nRaises:", "\nExample:"):
        text = text.split(section, maxsplit=1)[0]
    return text.strip()


def _example(entry: Entry, card: Card, width: int) -> Iterator[str]:
    example = card.example
    yield "example"
    if example.options:
        yield from _field("options", _json(example.options), width)
    yield from _field("case", _json(example.case), width)
    if not entry.judged:
        yield from _field("gives", _outcome(entry.name, example), width)
    elif wants_logprobs(find(entry.name).factory):
        yield "  needs log-probabilities of a model: see docs/answers.md"
    else:  # the command on one line, to be copied
        yield "  run it, with your judge as MODEL:"
        yield f"  {command_of(entry.name, example, judge='MODEL')}"


def _outcome(name: str, example: CardExample) -> str:
    """Return the result of a computed metric for its example."""
    try:
        result = run_example(name, example.case, example.options)
    except ConfigError as exc:
        return f"{example.value} (not computed here: {exc})"
    if isinstance(result, Failure):
        return f"no score ({result.kind}): {result.message}"
    value = result.status.replace("_", " ") if result.value is None else f"{result.value:.4g}"
    return f"{value}. {result.reason}"


def command_of(name: str, example: CardExample, *, judge: str | None = None) -> str:
    """Return the command that scores an example, with an optional judge."""
    words = ["judgekit", "score", "--metric", name]
    if judge is not None:
        words += ["--judge", judge]
    for option, value in example.options.items():
        plain = value if isinstance(value, str) else _json(value)
        words += ["--option", f"{option}={plain}"]
    return shlex.join([*words, "--case", _json(example.case)])


def _json(value: Any) -> str:
    return json.dumps(dict(value) if isinstance(value, Mapping) else value, ensure_ascii=False)


def run_example(name: str, case: Mapping[str, Any], options: Mapping[str, Any]) -> Result:
    """Return the result of a computed metric for a case, given as a row."""
    subject = next(load_cases([{"id": "example", **case}]))
    return score_sync(subject, create_metric(name, **options))


def _field(title: str, text: str, width: int) -> Iterator[str]:
    head = f"  {title:<17}"
    yield from textwrap.wrap(
        text, width, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False
    )


def _text(text: str, width: int) -> Iterator[str]:
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ""
        yield from textwrap.wrap(paragraph, width, initial_indent="  ", subsequent_indent="  ")
