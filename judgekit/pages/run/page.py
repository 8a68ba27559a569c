"""The page of a run, with the cards of its rubrics and judges."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.core.canonical import canonical_json, digest
from judgekit.pages.figures import weight
from judgekit.pages.html import fill, write_html
from judgekit.pages.run.facts import Fact, RunFacts, dollars
from judgekit.pages.run.kept import BOUNDS, PageBounds
from judgekit.pages.run.overview import Overview
from judgekit.pages.run.payload import RunPayload, make_payload
from judgekit.pages.run.recorded import JudgeReplies, TapeIndex
from judgekit.pages.run.slice_tables import slice_tables
from judgekit.pages.run.tallies import saturation
from judgekit.report.corrected import corrected_lines
from judgekit.report.manifest import dicts_in, entries_in, mapping
from judgekit.report.report import Report
from judgekit.report.text import answer_lines, outcome_counts, telling_figures
from judgekit.rubric.fold import DEFAULT, way_of

SCRIPTS = (
    "dom", "scrolls", "data", "run/entries", "run/quotes", "state", "rows", "facets",
    "columns", "table", "run/opinions", "run/verdict", "run/markdown", "drawer", "run/sides",
    "run/labels", "run/answers", "run/question", "run/labelling", "run/print", "main",
)  # fmt: skip
"""Pieces of the script, in the order they are joined."""

_ANSWERED = {"nullable": "may abstain", "quotes": "with quotes", "reverse": "high is bad"}


class Served(NamedTuple):
    """The connection of a served page to its server."""

    run: str
    """The id of the run on the server."""
    stamp: str
    """A digest that changes when a file of the run changes."""


def write_page(report: Report, path: Path, *, label: str | None = None) -> Path:
    """Write the page of a run, with the same bytes for the same run folder; return its path.

    Args:
        report: the run.
        path: the file.
        label: a metric to label: the page opens where people label it.

    Raises:
        ConfigError: the file cannot be written, or the folder has no results.
        CassetteCorrupt: the run's tape was damaged.
    """
    return write_html(render_page(report, label=label), path)


def render_page(
    report: Report,
    *,
    served: Served | None = None,
    label: str | None = None,
    bounds: PageBounds = BOUNDS,
) -> str:
    """Return the page of a run; of a very large run, only some cases are on it.

    Args:
        report: the run.
        served: set for a page from a server, which fetches further data on demand. A page in a file
            makes no connections.
        label: a metric to label: the page opens where people label it.
        bounds: what the page may hold.
    """
    payload = make_payload(report, bounds=bounds)
    page = _filled(report, payload, served, label)
    if payload.kept is not None and (size := len(page.encode("utf-8", "replace"))) > bounds.page:
        frame = size - len(payload.packed.text)
        payload = make_payload(report, bounds=bounds, frame=frame)
        page = _filled(report, payload, served, label)
    return page


def _filled(report: Report, payload: RunPayload, served: Served | None, label: str | None) -> str:
    figures = report.figures
    return fill(
        "run",
        scripts=_scripts(served=served is not None, kept=payload.kept is not None),
        connect="'none'" if served is None else "'self'",
        served=served,
        label=label,
        facts=RunFacts(report, makers=payload.makers, ranking=payload.ranking),
        figures=figures,
        overview=Overview(report, payload.reasons),
        slice_tables=slice_tables,
        rubrics=rubric_cards(figures.manifest, report.run, payload.taped),
        judges=judge_cards(figures.manifest, report.run, payload.taped),
        manifest=json.dumps(figures.manifest, ensure_ascii=False, sort_keys=True, indent=1),
        manifest_digest=digest(canonical_json(figures.manifest)),
        payload=payload,
        saturation=saturation,
        outcome_counts=outcome_counts,
        telling_figures=telling_figures,
        corrected_lines=corrected_lines,
        answer_lines=answer_lines,
    )


def _scripts(*, served: bool, kept: bool) -> tuple[str, ...]:
    """Return the pieces of the script; a server has the cases that a page does not keep."""
    more = ("view/served", *(("view/windows",) if kept else ())) if served else ()
    return (*SCRIPTS[:-1], *more, SCRIPTS[-1])


_Roles = list[tuple[str, str, dict[str, Any]]]
"""Model, role and settings of judges."""


class CriterionLine:
    """One criterion of a rubric."""

    def __init__(self, one: dict[str, Any], *, weighs: bool) -> None:
        self.id = str(one.get("id"))
        self.text = str(one.get("text") or "")
        self.answer = _answer(one)
        """The words of its answers."""
        self.weight = _weight(one.get("weight") if weighs else None)
        self.levels = [
            (
                str(level.get("label")),
                "not counted" if level.get("value") is None else f"{level['value']}",
                str(level.get("text") or ""),
            )
            for level in dicts_in(one.get("levels"))
        ]
        """Word, value and meaning of each level."""


class RubricCard:
    """The questions of a rubric in a manifest."""

    def __init__(self, entry: dict[str, Any], run: Mapping[str, Any], taped: TapeIndex) -> None:
        criteria = dicts_in(entry.get("criteria"))
        way = way_of(entry.get("combine", DEFAULT))
        weighs = way is not None and way.weighted
        self.name = f"{entry.get('name', 'unnamed')}@{entry.get('version', '?')}"
        self.digest = str(entry.get("digest") or "")
        self.description = str(entry.get("description") or "")
        shown = mapping(mapping(run.get("shown")).get(self.name))
        self.facts = [*_rubric_facts(entry), *_shown_facts(shown)]
        self.criteria = [CriterionLine(one, weighs=weighs) for one in criteria]
        self.prompt = _prompt_text({str(one.get("id")) for one in criteria}, taped)
        """The system message of a request with this rubric, if the tape has one."""


class JudgeCard(NamedTuple):
    """A judge of the run."""

    name: str
    facts: tuple[Fact, ...]


def rubric_cards(
    manifest: Mapping[str, Any], run: Mapping[str, Any], taped: TapeIndex
) -> list[RubricCard]:
    """Return a card for every rubric of a manifest, which is untrusted data, as the run is."""
    return [RubricCard(entry, run, taped) for entry in dicts_in(manifest.get("rubrics"))]


def _rubric_facts(entry: dict[str, Any]) -> Iterator[Fact]:
    metrics = [str(name) for name in entries_in(entry.get("metrics"))]
    yield Fact("Metrics", ", ".join(metrics) or "nothing")
    combine = entry.get("combine")
    if isinstance(combine, str):
        way = way_of(combine)
        yield Fact("Its value is", combine if way is None else way.phrase)
    modes = entry.get("modes")
    if isinstance(modes, dict) and len(modes) > 1:
        for name, groups in sorted(modes.items()):  # the order of report.json
            shares = sorted(groups.items()) if isinstance(groups, dict) else ()
            weights = " + ".join(f"{_weight(share)} {group}" for group, share in shares)
            default = "default" if name == entry.get("default_mode") else ""
            yield Fact(f"Mode {name}", weights, default)


def _shown_facts(shown: Mapping[str, Any]) -> Iterator[Fact]:
    for key, title in (("shows", "Shows the judge"), ("never", "Never shows")):
        if names := [str(name) for name in entries_in(shown.get(key))]:
            yield Fact(title, ", ".join(names))


def _answer(one: dict[str, Any]) -> str:
    labels = [str(label) for label in entries_in(one.get("labels"))]
    items = entries_in(one.get("items"))
    if labels:
        answer = "one word" if one.get("levels") else f"one of {', '.join(labels)}"
    elif one.get("kind") == "boolean":
        answer = "yes or no"
    elif one.get("kind") == "checklist":
        answer = f"{len(items)} points, met or not" if items else "a list of points, met or not"
    else:
        answer = f"a number from {one.get('minimum', 0)} to {one.get('maximum', 1)}"
    return "; ".join([answer, *(word for key, word in _ANSWERED.items() if one.get(key))])


def _weight(value: Any) -> str:
    return weight(value) if isinstance(value, (int, float)) else "–"


def _prompt_text(ids: set[str], taped: TapeIndex) -> str:
    """Return the system message of a request about these criteria."""
    for form, system in taped.systems.items():
        asked = {str(q.get("id")) for q in dicts_in(json.loads(form).get("questions"))}
        if asked and asked <= ids:
            return system
    return ""


def judge_cards(
    manifest: Mapping[str, Any], run: Mapping[str, Any], taped: TapeIndex
) -> list[JudgeCard]:
    """Return a card for every judge in a run's settings or on its tape."""
    roles = _roles(manifest)
    models = dict.fromkeys([*(model for model, _, _ in roles), *taped.judges])
    facts = {m: _judge_facts([r for r in roles if r[0] == m], run, taped, m) for m in models}
    return [JudgeCard(model, tuple(of)) for model, of in facts.items()]


def _roles(manifest: Mapping[str, Any]) -> _Roles:
    """Return model, role and settings of every judge of the suite."""
    several = manifest.get("judges")
    named = several if isinstance(several, dict) else {"judge": manifest.get("judge")}
    return [
        (str(judge["model"]), str(role), judge)
        for role, judge in named.items()
        if isinstance(judge, dict) and judge.get("model")
    ]


def _judge_facts(
    roles: _Roles, run: Mapping[str, Any], taped: TapeIndex, model: str
) -> Iterator[Fact]:
    replies = taped.judges.get(model, JudgeReplies())
    if any(role != "judge" for _, role, _ in roles):
        yield Fact("Role", ", ".join(role for _, role, _ in roles))
    for _, role, settings in roles:
        if params := settings.get("params"):
            yield Fact("Parameters set", json.dumps(params, ensure_ascii=False, sort_keys=True))
        if api := settings.get("api"):
            yield Fact("API", str(api))
        if mode := settings.get("mode"):
            yield Fact("Mode forced", str(mode))
        yield from _findings(run, role)
    for name, words in (
        ("params", "Parameters sent"),
        ("identity", "Identity"),
        ("server", "Served as"),
        ("reported", "Calls itself"),
        ("mode", "Output mode"),
    ):
        several = [one for one in replies.values[name] if (name, one) != ("reported", model)]
        if several:
            yield Fact(words, "; ".join(several))
    if not replies.count:
        yield Fact("Replies", "none on the tape of this run")
        return
    again = f"{replies.retried:,} took more than one try" if replies.retried else ""
    yield Fact("Replies", f"{replies.count:,}", again)
    if replies.samples > 1:
        yield Fact("Samples", f"up to {replies.samples:,} of each")
    if any(replies.tokens):
        more = f"+ {replies.uncounted:,} that were not counted" if replies.uncounted else ""
        yield Fact("Tokens", f"{replies.tokens[0]:,} in, {replies.tokens[1]:,} out", more)
    known = replies.unpriced < replies.count
    more = f"+ {replies.unpriced:,} of unknown price" if known and replies.unpriced else ""
    yield Fact("Cost when recorded", dollars(replies.cost if known else None), more)
    yield from _savings(replies)


def _savings(replies: JudgeReplies) -> Iterator[Fact]:
    if any(replies.cached):
        read, written = replies.cached
        yield Fact("Prompt cache", f"{read:,} tokens read, {written:,} written")
    for tier, count in sorted(replies.tiers.items()):
        yield Fact("Service tier", f"{tier}: {count:,} of {replies.count:,}")
    if replies.saved:
        words = "US dollars; negative where more was written than read"
        yield Fact("Saved by cache and tier", f"{replies.saved:.4f}", words)


def _findings(run: Mapping[str, Any], role: str) -> Iterator[Fact]:
    facts = mapping(mapping(run.get("judges")).get(role))
    if facts.get("mode"):
        yield Fact("Asked by", str(facts["mode"]), str(facts.get("mode_from") or ""))
    if dropped := mapping(facts.get("dropped_params")):
        yield Fact("Parameters not taken", ", ".join(map(str, dropped)))
    if facts.get("system_in_user"):
        yield Fact("System message", "in the first user message")
