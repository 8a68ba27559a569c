"""The metrics reference, from the cards, signatures and docstrings of the metrics."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from docs.generate.fields import fields_said
from judgekit.authoring.metric_cards import command_of, sees_rows, wants_logprobs
from judgekit.cli.app import app
from judgekit.metrics.cards import Option, card_of, options_of
from judgekit.metrics.catalogue import FAMILIES, Entry
from judgekit.metrics.registry import find
from judgekit.rubric.asked import shown_and_not
from judgekit.rubric.load import load_rubric
from judgekit.suite.file import MetricFile

JUDGE = "openai/gpt-6-luna"
NOT_EVERYWHERE = {"code": "needs bubblewrap, which not every machine has"}
"""Metrics with an example that does not run everywhere, and the reason."""
RUBRICS = ("safety",)
"""Built-in rubrics that are metrics; the others are steps of a metric."""
PAGES = {
    "embedding": "embedding.md",
    "tone": "tone.md",
    "brand voice": "brand-voice.md",
    "grounding": "grounding.md",
    "safety and quality": "safety-quality.md",
    "personalization": "personalization.md",
    "benchmarks": "benchmarks.md",
    "robustness": "robustness.md",
    "agents": "agents.md",
}

HEAD = """# Metrics reference

Every built-in metric: its meaning, formula, required fields, options, and an example. `python -m docs.generate` writes this page from the
metrics themselves. A test compares them and runs every example. `judgekit metrics show NAME` prints the same in a
terminal, also for your own metrics and those of installed packages.

A metric goes under `metrics:` in a suite, with its options: `length: {maximum: 120, threshold: 0.8, gate: {mean: 0.9}}` (see [gates](../gates.md)). Besides its own options
every metric takes these:

{keys}

**Rows without a number.** `not applicable` and `abstained` are scores without a value. They do not count in the mean; reports count them separately. `invalid_case` and all
problems with a judge are failures; a run with failures is incomplete. None of these is ever a 0.
"""


def metrics_page() -> str:
    """Return the page."""
    families = {family: group for family, group in FAMILIES.items() if group}
    keys = "".join(
        f"- `{key}`: {' '.join(said.split())}\n"
        for key, said in fields_said(MetricFile)
        if key in MetricFile.model_fields
    )
    parts = [HEAD.replace("{keys}\n", keys), *_index(families)]
    for family, group in families.items():
        parts.append(f"## {family.capitalize()}\n")
        if family in PAGES:
            parts.append(f"Examples and suites: [{PAGES[family]}]({PAGES[family]}).\n")
        parts.extend(_metric(entry) for entry in group)
    parts.append("## Rubrics that are metrics\n")
    parts.extend(_rubric(name) for name in RUBRICS)
    return "\n".join(parts)


def _index(families: dict[str, tuple[Entry, ...]]) -> Iterator[str]:
    yield "| metric | what it measures | made by |\n| --- | --- | --- |"
    for group in families.values():
        for entry in group:
            yield f"| [`{entry.name}`](#{entry.name}) | {entry.summary} | {_maker(entry)} |"
    yield ""


def _maker(entry: Entry) -> str:
    if not entry.judged:
        return "computation"
    return "log-probabilities" if wants_logprobs(find(entry.name).factory) else "a judge"


def _metric(entry: Entry) -> str:
    made = find(entry.name).factory
    card = card_of(entry.name)
    low, high = made.range
    better = "higher" if made.higher_is_better else "lower"
    asked = {"a judge": "a judge", "log-probabilities": "a model's log-probabilities"}
    rows = {
        "family": next(name for name, group in FAMILIES.items() if entry in group),
        "formula": card.formula,
        "source": card.source,
        "range": f"{low:g} to {high:g}, {better} is better",
        "needs": ", ".join(f"`{field}`" if " " not in field else field for field in made.needs),
        "made by": asked.get(_maker(entry), "computation, without a judge"),
    }
    if entry.judged:
        stand_in = entry.stand_in
        rows["without a judge"] = (
            f"[`{stand_in}`](#{stand_in})"
            if stand_in
            else "no fallback; add a `fallback` to the suite"
        )
    rows |= {
        "confidence": made.confidence or f"none: {card.no_confidence}",
        "no number when": card.empty,
        "compatible": card.modes,
        **sees_rows(entry.name),
    }
    table = "\n".join(f"| {key} | {_cell(text)} |" for key, text in rows.items() if text)
    return (
        f"### `{entry.name}`\n\n{entry.summary[:1].upper()}{entry.summary[1:]}.\n\n"
        f"{_prose(card.about)}\n\n| | |\n| --- | --- |\n{table}\n\n"
        f"{_options(options_of(made, card.options))}\n{_example(entry, made)}"
    )


def _prose(text: str) -> str:
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _options(options: tuple[Option, ...]) -> str:
    if not options:
        return ""
    rows = "\n".join(
        f"| `{option.name}` | {_cell(option.kind)} | {_default(option)} | {_cell(option.says)} |"
        for option in options
    )
    return f"| option | takes | default | |\n| --- | --- | --- | --- |\n{rows}\n"


def _default(option: Option) -> str:
    if option.default is None:
        return "needed"
    return option.default if option.default.startswith("(") else f"`{_cell(option.default)}`"


def _example(entry: Entry, made: Any) -> str:
    example = card_of(entry.name).example
    if wants_logprobs(made):
        case = json.dumps(dict(example.case), ensure_ascii=False)
        return (
            f"For example, the case\n\n```json\n{case}\n```\n\nwith a suite from "
            "[answers.md](../answers.md#how-likely-a-text-is-to-a-model), which lists the "
            "requirements for the model.\n"
        )
    command = command_of(entry.name, example, judge=JUDGE if entry.judged else None)
    if entry.name in NOT_EVERYWHERE:
        return (
            f"The example gives {example.value:g}:\n\n```console\n"
            f"# not run: {NOT_EVERYWHERE[entry.name]}\n$ {command}\n```\n"
        )
    printed = "" if entry.judged else printed_by(command)
    return f"```console\n$ {command}\n{printed}```\n"


def _rubric(name: str) -> str:
    rubric = load_rubric(name)
    criteria = "\n".join(f"| `{c.id}` | {_cell(c.question.text)} |" for c in rubric.criteria)
    needs = ", ".join(f"`{field}`" for field in rubric.requires)
    seen, never = (", ".join(names) for names in shown_and_not(rubric))
    return (
        f"### `{name}`\n\n{_prose(rubric.description)} Range 0 to 1, higher is better. Needs {needs}. "
        f"Uses a judge; `judgekit rubric show {name}` prints levels and weights. "
        f"The judge sees {seen}; it never sees {never}.\n\n"
        f"| criterion | question |\n| --- | --- |\n{criteria}\n"
    )


def printed_by(command: str) -> str:
    """Return what a command prints, 80 columns wide."""
    said = io.StringIO()
    with (
        patch.dict(os.environ, {"COLUMNS": "80", "NO_COLOR": "1"}),
        contextlib.redirect_stdout(said),
        contextlib.suppress(SystemExit),
    ):
        app(shlex.split(command)[1:], prog_name="judgekit")
    return said.getvalue()
