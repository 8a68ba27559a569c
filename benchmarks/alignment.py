"""How often `alignment_rules` ranks a good answer above a bad one, by kind of bad answer.

    python -m benchmarks.alignment                      with the references, and without
    python -m benchmarks.alignment development          the pairs that the metric was written with
    python -m benchmarks.alignment published FOLDER     also with an ONNX sentence model

A pair counts as right if the good answer has the higher value; a tie does not, and a pair to which
the metric does not apply is counted apart. Prints the table of docs/metrics/alignment.md.
"""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from judgekit.core.case import Case
from judgekit.metrics.prompt_alignment.alignment_rules import AlignmentFallback

PAIRS = Path(__file__).with_name("alignment_pairs")
KINDS = ("echo", "refusal", "off topic", "empty talk", "wrong fact", "copied question")

Pair = Mapping[str, str]


def read_pairs(name: str = "published") -> list[Pair]:
    """Return the pairs of a file: kind, input, reference, good and bad answer."""
    pairs: list[Pair] = yaml.safe_load((PAIRS / f"{name}.yaml").read_text("utf-8"))
    return pairs


def ranked(metric: AlignmentFallback, pair: Pair, *, reference: bool = True) -> str:
    """Return `right`, `tie`, `wrong` or `not applicable`."""
    values = []
    for answer in (pair["good"], pair["bad"]):
        given = [pair["reference"]] if reference else []
        case = Case(id="1", input=pair["input"], output=answer, reference=given)
        values.append(asyncio.run(metric.score(case)).value)
    good, bad = values
    if good is None or bad is None:
        return "not applicable"
    return "right" if good > bad else "tie" if good == bad else "wrong"


def table(columns: Mapping[str, Iterable[tuple[str, str]]]) -> str:
    """Return pairs that were ranked right by kind, one column per way to ask the metric."""
    head = ["kind", *columns]
    lines = [f"| {' | '.join(head)} |", f"| --- |{' --: |' * len(columns)}"]
    counts = {name: defaultdict(list) for name in columns}
    for name, results in columns.items():
        for kind, result in results:
            counts[name][kind].append(result)
            counts[name]["all"].append(result)
    for kind in (*KINDS, "all"):
        cells = [_cell(counts[name][kind]) for name in columns]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(results: list[str]) -> str:
    applied = [result for result in results if result != "not applicable"]
    if not applied:
        return "not applicable"
    left = len(results) - len(applied)
    return f"{applied.count('right')} of {len(applied)}" + (f" ({left} n/a)" if left else "")


def measure(pairs: list[Pair], metric: AlignmentFallback, *, reference: bool) -> list:
    """Return kind and result of each pair."""
    return [(pair["kind"], ranked(metric, pair, reference=reference)) for pair in pairs]


if __name__ == "__main__":
    pairs = read_pairs(*sys.argv[1:2])
    metrics = {"": AlignmentFallback()}
    if sys.argv[2:]:
        metrics[", sentence model"] = AlignmentFallback(embedder=f"onnx:{sys.argv[2]}")
    columns = {
        f"{'with' if reference else 'without'} a reference{name}": measure(
            pairs, metric, reference=reference
        )
        for name, metric in metrics.items()
        for reference in (True, False)
    }
    print(table(columns))
    for pair in pairs:
        for name, metric in metrics.items():
            result = ranked(metric, pair)
            if result != "right":
                print(f"{result}{name}: {pair['input']}")
