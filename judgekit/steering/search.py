"""Search for the layer and the strength of a steering vector: train, answer, score, compare."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, product, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.cassette.cassette import Cassette
from judgekit.core.canonical import canonical_json
from judgekit.core.case import Case
from judgekit.core.display.parts import DisplayLine, DisplayPart, DisplayTable, cut
from judgekit.core.document import Document
from judgekit.core.errors import CassetteMiss, ConfigError
from judgekit.core.judge_wrapper import BaseJudge, RequestBuilder
from judgekit.core.output_file import refuse_foreign
from judgekit.core.replies.vector import read_vector
from judgekit.core.request import About, ChatMessage, Form
from judgekit.core.value import Value
from judgekit.core.yaml_file import Lines
from judgekit.datasets.load import load_cases
from judgekit.datasets.write import write_cases
from judgekit.judges.limits import LimitedJudge
from judgekit.judges.local import PREFIX
from judgekit.metrics.embedding.examples import read_examples
from judgekit.metrics.registry import create_metric
from judgekit.pages.html import fill, write_html
from judgekit.report.export.target import written
from judgekit.report.text import counts_of, interval_of
from judgekit.runner.background import run_sync
from judgekit.runner.evaluation import evaluate
from judgekit.steering.answers import steerable, steered_system
from judgekit.steering.vector import Steering, vector_bytes
from judgekit.suite.answering import answer_cases
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.judges import make_judge
from judgekit.suite.systems import open_system

HELD_OUT = 5
"""Without test prompts, every fifth pair gives a test prompt and is not used for training."""
TABLE, VECTOR, PAGE, CASES = "steering.json", "vector.safetensors", "steering.html", "cases.jsonl"

ASSETS = Path(__file__).parent / "assets"
FORMAT = "judgekit-steering/1"
FIGURES = ("overall", "difference", "quality", "alignment", "steered_share")
"""Figures of a cell, in display order."""
_HEAD = ("layer", "strength", "overall", "95 %", "differs", "quality", "aligned", "steered", "")
QUALITY_DROP = 0.1
"""Tolerated difference of a cell's mean quality below that of the baseline."""


class SteeringCell(Value):
    """The answers of one layer and strength."""

    layer: int
    strength: float
    figures: dict[str, float | None]
    """Means over the test prompts, on 0..1; `None` without scores. `overall` counts an answer that
    hardly differs from its baseline as 0; `steered_share` is the share of the others."""
    interval: str
    """95 % interval of `overall`, as shown."""
    counts: str
    """The numbers of rows by outcome, as text."""
    complete: bool
    """Whether all answers have a score."""


class SteeringTable(Document, Value):
    """The outcome of `judgekit steer optimize`."""

    format: str = FORMAT
    trait: str
    model: str
    weights: str = ""
    """Digest of the model's weights."""
    pairs: int = 0
    """Number of training pairs."""
    prompts: int
    rated_by: str
    """The judge of quality, or `rules`."""
    baseline_quality: float | None
    """Mean quality of the answers without steering."""
    cells: tuple[SteeringCell, ...]
    """The cells by layer, then by strength, in the given order."""

    def holds(self, cell: SteeringCell) -> bool:
        """Return whether the quality of a cell is not much below that of the baseline.

        True for a cell without scores.
        """
        quality = cell.figures["quality"]
        least = (self.baseline_quality or 0) - QUALITY_DROP
        return quality is None or quality >= least - 1e-9

    @property
    def best(self) -> SteeringCell | None:
        """The cell with the highest mean and enough quality; `None` if no such mean is above 0."""
        return max(
            (cell for cell in self.cells if cell.figures["overall"] and self.holds(cell)),
            key=lambda cell: (cell.figures["overall"] or 0, -abs(cell.strength), -cell.layer),
            default=None,
        )

    @property
    def rows(self) -> list[list[SteeringCell]]:
        """The cells of each layer."""
        return [list(row) for _, row in groupby(self.cells, key=lambda cell: cell.layer)]

    @property
    def verdict(self) -> str:
        """A sentence about the best cell, or why there is none."""
        if self.best is not None:
            place = f"layer {self.best.layer}, strength {self.best.strength:g}"
            return f"Best: {place}, with {self.best.figures['overall']:.2f}."
        if not all(cell.complete for cell in self.cells):
            return "No best cell can be named: some answers have no score."
        if any(cell.figures["overall"] for cell in self.cells):
            return "No cell holds the quality of the baseline."
        return "No steering had an effect; try other layers, higher strengths or more pairs."

    def _parts_shown(self) -> Iterable[DisplayPart]:
        yield DisplayLine(f"Steering towards: {cut(self.trait)}", "title")
        quality = "none" if self.baseline_quality is None else f"{self.baseline_quality:.2f}"
        rated = f"quality by {self.rated_by}, of the baseline {quality}"
        yield DisplayLine(f"{self.model}; {self.pairs} pairs; {self.prompts} test prompts; {rated}")
        rows = []
        for cell in self.cells:
            shown = ["–" if n is None else f"{n:.2f}" for n in map(cell.figures.get, FIGURES)]
            mark = "best" if cell is self.best else "" if self.holds(cell) else "low"
            shown.insert(1, cell.interval)
            rows.append((str(cell.layer), f"{cell.strength:g}", *shown, mark))
        yield DisplayTable(_HEAD, rows, numbers=range(8))
        yield DisplayLine(self.verdict, "note")


class SteeringPlan(NamedTuple):
    """The settings of `judgekit steer optimize`."""

    model: str
    pairs: Path
    trait_description: str
    layers: Sequence[int]
    strengths: Sequence[float]
    positive_examples: Path | None = None
    """By default, the file of the pairs."""
    negative_examples: Path | None = None
    prompts: str | None = None
    judge: JudgeFile | None = None
    option: Mapping[str, Any] = {}
    """Additional options of the metric."""
    max_tokens: int = 256
    cassette: Path | None = None
    record: str = "new_episodes"


def optimize_steering(
    plan: SteeringPlan, *, out: Path | None = None, progress: Callable[[str], object] = str
) -> SteeringTable:
    """Train a vector for each layer, answer and score with each strength, and write the results.

    Args:
        plan: the settings.
        out: folder for the table, the page, and the vector and answers of the best cell.
        progress: called with a line before each step.

    Raises:
        ConfigError: a setting is wrong, or a file is missing or of another format.
        JudgekitError: the model or the judge cannot be called, or a recording is missing.
    """
    if not plan.trait_description.strip():
        raise ConfigError("--trait-description is blank; describe the trait")
    if out is not None:
        _check_out(out)
    pairs, cases = _split(plan)
    examples = {}
    for side in ("positive", "negative"):
        file = getattr(plan, f"{side}_examples") or plan.pairs
        examples[f"{side}_examples"] = read_examples(f"--{side}-examples", side, file)
    params = {"max_tokens": plan.max_tokens}
    model = PREFIX + plan.model.removeprefix(PREFIX)
    with open_system(model, params=params, cassette=plan.cassette, record=plan.record) as system:
        judge = None
        if plan.judge is not None:
            lines, asking = Lines(file=""), plan.record != "none"
            made = make_judge(plan.judge, base=Path(), lines=lines, asking=asking)
            judge = system.for_judge(LimitedJudge(made))
        kind = "personalization_rules" if judge is None else "personalization"
        metric = create_metric(kind, judge=judge, **examples, **plan.option)
        table, answers, vectors = run_sync(_search(plan, system, metric, pairs, cases, progress))
    if out is not None:
        _write(out, table, answers, vectors)
    return table


def _check_out(out: Path) -> None:
    """Check that existing files with these names in a folder are from an earlier search."""
    begin = f'{{\n "format": "{FORMAT}"'.encode()
    if out.exists() and not out.is_dir():
        raise ConfigError("is no folder; name another one", where=str(out))
    refuse_foreign(out / TABLE, lambda head: head.startswith(begin), what="a steering table")
    for name in (VECTOR, CASES):
        if (out / name).exists() and not (out / TABLE).exists():
            message = "is there already and is not of a steering search; name another folder"
            raise ConfigError(message, where=str(out / name))


def _split(plan: SteeringPlan) -> tuple[list[tuple[str, ...]], list[Case]]:
    """Return the pairs to train on, as (prompt, positive, negative), and the cases to answer."""
    sides = [
        read_examples("--pairs", side, plan.pairs) for side in ("prompt", "positive", "negative")
    ]
    pairs = list(zip_longest(*sides, fillvalue=""))
    for number, (_, positive, negative) in enumerate(pairs, start=1):
        if positive == negative or not (positive and negative):
            advice = "`judgekit pairs generate` writes some"
            message = f"entry {number} is no pair of two answers; {advice}"
            raise ConfigError(message, where=str(plan.pairs))
    if plan.prompts is not None:
        empty = {"output": None, "baseline": None}
        return pairs, [case.model_copy(update=empty) for case in load_cases(plan.prompts)]
    if len(pairs) < HELD_OUT:
        message = f"has fewer than {HELD_OUT} pairs, too few to test on one; add --prompts FILE"
        raise ConfigError(message, where=str(plan.pairs))
    tested = range(HELD_OUT - 1, len(pairs), HELD_OUT)
    cases = [Case(id=f"pair-{n + 1}", input=pairs[n][0]) for n in tested]
    return [pair for n, pair in enumerate(pairs) if n not in tested], cases


async def _search(
    plan: SteeringPlan,
    system: Cassette,
    metric: Any,
    pairs: Sequence[tuple[str, ...]],
    cases: Sequence[Case],
    progress: Callable[[str], object],
) -> tuple[SteeringTable, list[Case], dict[int, bytes]]:
    """Return the table, the answered cases of its best cell, and the vector of each layer."""
    model, vectors, weights = steerable(system), {}, ""
    for layer in plan.layers:
        progress(f"vector of layer {layer}")
        trainer = system.for_judge(model.trainer(layer, layers=plan.layers))
        vectors[layer], weights = await _train(trainer, layer, canonical_json(pairs))
    progress("baseline")
    plain = (await answer_cases(cases, system, field="baseline")).cases
    rated = [case.model_copy(update={"output": case.baseline}) for case in plain]
    quality = (await evaluate(rated, [metric.quality])).metrics[metric.quality.name].mean
    cells, answers = [], {}
    for layer, strength in product(plan.layers, plan.strengths):
        progress(f"layer {layer}, strength {strength:g}")
        judge = steered_system(system, model, Steering(vectors[layer], layer, strength))
        answered = await answer_cases(plain, judge)
        answers[layer, strength] = answered.cases
        summary = (await evaluate(answered.cases, [metric])).metrics[metric.name]
        counts, own = counts_of(summary), {**summary.figures, "overall": summary.mean}
        if answered.failures:
            first = next(iter(answered.failures.values()))
            counts += f"; no answer: {first.kind}: {first.message}"
        cell = SteeringCell(
            layer=layer,
            strength=strength,
            figures={name: own.get(name, own.get(f"{name}_score")) for name in FIGURES},
            interval=interval_of(summary),
            counts=counts,
            complete=summary.scored == summary.rows,
        )
        cells.append(cell)
    table = SteeringTable(
        trait=plan.trait_description,
        model=system.model,
        weights=weights,
        pairs=len(pairs),
        prompts=len(cases),
        rated_by=plan.judge.model if plan.judge else "rules",
        baseline_quality=quality,
        cells=tuple(cells),
    )
    best = answers[table.best.layer, table.best.strength] if table.best else []
    return table, best, vectors


async def _train(judge: BaseJudge, layer: int, pairs: str) -> tuple[bytes, str]:
    """Return the file of the vector of a layer, and the digest of the weights."""
    message = ChatMessage(role="system", content=pairs)  # tapes store system messages once
    request = RequestBuilder(judge).request(
        messages=(message,), form=Form(want="embedding"), sample=0, about=About()
    )
    try:
        reply = await judge.ask(request)
    except CassetteMiss as exc:
        advice = "to train it: --record new_episodes"
        raise ConfigError(f"vector of layer {layer}: {exc}; {advice}") from exc
    weights = (reply.server or "").removeprefix("weights ")
    # No other data: the digest of the file is part of the keys of all steered answers.
    return vector_bytes(read_vector(reply), layer=layer, metadata={"weights": weights}), weights


def _write(
    out: Path, table: SteeringTable, cases: list[Case], vectors: Mapping[int, bytes]
) -> None:
    """Write the files of a search; without a best cell, those of an earlier one are removed."""
    with written(out / TABLE) as file:
        text = json.dumps(table.model_dump(mode="json"), ensure_ascii=False, indent=1)
        file.write(f"{text}\n".encode("utf-8", "replace"))
    shown: dict[str, Any] = {"table": table, "figures": FIGURES, "cases": cases}
    page = fill("steering", styles=("steering",), scripts=(), assets=ASSETS, **shown)
    write_html(page, out / PAGE)
    for name in (VECTOR, CASES):
        (out / name).unlink(missing_ok=True)
    if table.best is not None:
        with written(out / VECTOR) as file:
            file.write(vectors[table.best.layer])
        write_cases(cases, out / CASES)
