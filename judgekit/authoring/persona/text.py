"""Calibrations and comparisons of personas as text for a terminal, or as JSON."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judgekit.authoring.persona.calibrate import Calibrated
from judgekit.authoring.persona.diagnose import JudgedSample, by_scenario
from judgekit.core.display.parts import DisplayLine, DisplayPart, DisplayTable, cut
from judgekit.core.display.text import to_text

WORDS = 5
"""Maximum number of words to show per side."""
WRONG = 5
"""Maximum number of misclassified held-out labels to show."""


def calibrated_text(outcome: Calibrated, path: Path) -> str:
    """Return the content and the quality of a calibration."""
    made, labels = outcome.calibration, outcome.labels
    left = f" ({labels.undecided} undecided and {labels.others} of other personas left out)"
    lines = [f"{made.persona}: {made.labels.on_brand} labels on brand, {made.labels.off_brand} off"
             f"{left if labels.undecided or labels.others else ''}"]  # fmt: skip
    if made.bounds:
        lines.append(f"bounds: style from {made.bounds.low:g} to {made.bounds.high:g}")
    if made.traits:
        words = sorted(made.traits.tokens, key=lambda word: (made.traits.tokens[word], word))  # type: ignore[union-attr]
        on = ", ".join(reversed(words[-WORDS:]))
        lines.append(f"traits: {len(words)} words; on brand: {on}; off: {', '.join(words[:WORDS])}")
    if made.weights:
        shares = made.weights.model_dump().items()
        lines.append(f"weights: {', '.join(f'{name} {weight:g}' for name, weight in shares)}")
    lines += [*outcome.notes, *_validated(outcome), f"written to {path}"]
    return to_text(map(DisplayLine, lines)) + "\n"


def _validated(outcome: Calibrated) -> Iterator[str]:
    held = outcome.calibration.held_out
    if held is None:
        yield "not validated: no figure says how good it is (--step validate)"
        return
    yield held.text
    linear = "undefined" if held.pearson is None else f"{held.pearson:.2f}"
    best = f"{held.f1_at_threshold:.2f} at the best threshold {held.threshold:.2f}"
    yield f"F1 {held.f1:.2f} at 0.5, {best}; Pearson {linear}"
    for name, side in (("on brand", 1), ("off brand", 0)):
        values = [each.score for each in outcome.scores if each.label.label == side]
        mean, sd = statistics.fmean(values), statistics.pstdev(values)
        yield f"{name}: mean {mean:.2f}, sd {sd:.2f}, median {statistics.median(values):.2f}"
    wrong = [e for e in outcome.scores if (e.score >= held.threshold) != (e.label.label == 1)]
    if wrong:
        shown = ", ".join(f"{each.label.id} ({each.score:.2f})" for each in wrong[:WRONG])
        yield f"on the wrong side of it: {len(wrong)} of {len(outcome.scores)}: {shown}"


def diagnosis_text(sample: JudgedSample, *, as_json: bool = False) -> str:
    """Return the cases in which judge and score disagree, with reasons."""
    parts: list[DisplayPart] = [*_head(sample)]
    entries = []
    for each in sample.disagreements():
        judged = each.verdict.details if each.verdict else {}
        entry = {
            "case": each.case.id,
            "score": each.score,
            "judge": each.judge,
            "label": each.label,
            "score_reason": each.reason,
            "judge_reason": each.verdict.reason if each.verdict else "",
            "weaknesses": judged.get("weaknesses"),
            "suggestion": judged.get("suggestion"),
        }
        entries.append(entry)
        label = "" if each.label is None else f", label {each.label}"
        title = f"\n{each.case.id}: score {each.score:.2f}, judge {each.judge:.2f}{label}"
        parts.append(DisplayLine(title))
        for name in ("score_reason", "judge_reason", "suggestion"):
            if entry[name]:
                parts.append(DisplayLine(f"  {name.split('_')[0]}: {cut(str(entry[name]))}"))
    return _json(sample, {"disagreements": entries}) if as_json else to_text(parts) + "\n"


def scenarios_text(sample: JudgedSample, *, as_json: bool = False) -> str:
    """Return the figures of each scenario."""
    entries = by_scenario(sample)
    if as_json:
        return _json(sample, {"scenarios": entries})
    rows = [
        [
            e["scenario"], str(e["cases"]), f"{e['score']:.2f}",
            "-" if e["judge"] is None else f"{e['judge']:.2f}",
            f"{e['agree']} of {e['judged']}", cut("; ".join(e["weaknesses"])),
        ]
        for e in entries
    ]  # fmt: skip
    head = ("scenario", "cases", "score", "judge", "agree", "weaknesses")
    return to_text([*_head(sample), DisplayTable(head, rows, numbers=(1, 2, 3))]) + "\n"


def _json(sample: JudgedSample, data: dict[str, Any]) -> str:
    facts = {"cases": len(sample.cases), "threshold": sample.threshold, "spent": sample.spent}
    data = {**facts, **sample.agreement, "missing": sample.missing, **data}
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def _head(sample: JudgedSample) -> Iterator[DisplayLine]:
    figures = sample.agreement
    within = "" if figures["low"] is None else f" [{figures['low']:.2f}, {figures['high']:.2f}]"
    missing = f"; {sample.missing} without a verdict" if sample.missing else ""
    count = f"{len(sample.cases)} cases, {figures['judged']} judged{missing}"
    side = f"on the same side of {sample.threshold:g} in {figures['agree']}{within}"
    yield DisplayLine(f"{count}; judge and score are {side}")
