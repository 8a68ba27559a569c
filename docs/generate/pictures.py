"""The pictures of docs/trust.md, from the example trusted_judge."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import judgekit
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite

EXAMPLE = Path(__file__).parents[2] / "examples" / "trusted_judge"
JUDGES = ("careful", "lenient")
BLUE, GREEN, RED, ORANGE = "#1f5fa8", "#2e7d4f", "#b3261e", "#b26a00"
GREY, INK = "#d5d9de", "#1b1f24"
WIDTH = 720


class Picture:
    """An SVG picture with a white ground, so that it can be read on a dark page, too."""

    def __init__(self, height: int, title: str) -> None:
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" font-family="sans-serif" '
            'font-size="14">',
            f"<title>{title}</title>",
            f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
        ]

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """Add a filled rectangle."""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" '
            f'fill="{colour}"/>'
        )

    def line(self, x: float, y: float, to: tuple[float, float], *, dashed: bool = False) -> None:
        """Add a line."""
        dash = ' stroke-dasharray="4 4"' if dashed else ""
        self._parts.append(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to[0]:.1f}" y2="{to[1]:.1f}" stroke="{INK}"'
            f"{dash}/>"
        )

    def text(
        self, x: float, y: float, text: str, *, anchor: str = "start", bold: bool = False
    ) -> None:
        """Add a line of text."""
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{INK}" text-anchor="{anchor}"{weight}>'
            f"{text}</text>"
        )

    def finish(self) -> str:
        """Return the picture."""
        return "\n".join([*self._parts, "</svg>"]) + "\n"


class LabelledCase(NamedTuple):
    """What judges and people say about one case."""

    judges: Mapping[str, bool]
    people: Mapping[str, bool]

    @property
    def majority(self) -> bool:
        """The answer of most people."""
        return 2 * sum(self.people.values()) > len(self.people)


@cache
def labelled_cases() -> tuple[LabelledCase, ...]:
    """Return the labelled cases of the example."""
    people: dict[str, dict[str, bool]] = {}
    for line in _lines("labels"):
        value = line["answers"]["solved"]["value"]
        people.setdefault(line["case"], {})[line["labeller"]] = value
    judges = {
        name: {line["case"]: line["answers"]["solved"]["value"] for line in _lines(name)}
        for name in JUDGES
    }
    return tuple(
        LabelledCase({name: said[case] for name, said in judges.items()}, answers)
        for case, answers in people.items()
    )


def _lines(name: str) -> Iterable[dict[str, Any]]:
    return map(json.loads, (EXAMPLE / f"{name}.jsonl").read_text("utf-8").splitlines())


def agreement_picture() -> str:
    """Return the labelled cases as squares, by what the judge and people say."""
    cases = labelled_cases()
    picture = Picture(
        256, f"{len(cases)} labelled cases by the verdict of the judge and of most people"
    )
    kinds = (
        ((True, True), GREEN, "both yes"),
        ((False, False), BLUE, "both no"),
        ((True, False), RED, "judge yes, people no"),
        ((False, True), ORANGE, "judge no, people yes"),
    )
    for place, judge in enumerate(JUDGES):
        left = 24 + place * 356
        count = Counter((case.judges[judge], case.majority) for case in cases)
        same = count[True, True] + count[False, False]
        picture.text(left, 30, f"{judge}: {same} of {len(cases)} the same", bold=True)
        squares = [colour for kind, colour, _ in kinds for _ in range(count[kind])]
        for number, colour in enumerate(squares):
            picture.box(left + number % 16 * 20, 44 + number // 16 * 20, 17, 17, colour)
        for number, (kind, colour, words) in enumerate(kinds):
            y = 170 + number * 20
            picture.box(left, y - 11, 12, 12, colour)
            picture.text(left + 20, y, f"{count[kind]} {words}")
    return picture.finish()


def chance_picture() -> str:
    """Return how kappa measures the way from chance to full agreement."""
    picture = Picture(204, "Kappa is the share of the way from chance to full agreement")
    for place, judge in enumerate(JUDGES):
        pairs = [(case.judges[judge], answer) for case in labelled_cases()
                 for answer in case.people.values()]  # fmt: skip
        same = sum(one == other for one, other in pairs) / len(pairs)
        yes = [sum(pair[side] for pair in pairs) / len(pairs) for side in (0, 1)]
        chance = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
        y, start, span = 46 + place * 84, 100, 596
        picture.text(24, y + 15, judge, bold=True)
        picture.box(start, y, span, 22, GREY)
        picture.box(start, y, span * same, 22, GREEN)
        picture.box(start, y, span * chance, 22, ORANGE)
        picture.text(start + span * chance, y - 6, f"chance {chance:.2f}", anchor="middle")
        picture.text(start + span * same, y - 6, f"the same {same:.2f}", anchor="middle")
        kappa = (same - chance) / (1 - chance)
        words = f"kappa = green / (green + grey) = {kappa:.2f}"
        picture.text(start + span, y + 38, words, anchor="end")
    return picture.finish()


def labeller_picture() -> str:
    """Return how well each person and each judge agree with the other two people."""
    picture = Picture(
        250, "Each person, and the judge in their place, against the other two people"
    )
    cases = labelled_cases()
    picture.text(24, 28, "How often the answer is that of the other two people, if ...", bold=True)
    rows: list[tuple[str, str, float]] = []
    for name in cases[0].people:
        own = [case.people[name] for case in cases]
        rows.append((f"{name} answers", BLUE, _share_with_others(name, own)))
        for judge, colour in zip(JUDGES, (GREEN, RED), strict=True):
            answers = [case.judges[judge] for case in cases]
            rows.append((f"{judge} answers", colour, _share_with_others(name, answers)))
    for number, (words, colour, share) in enumerate(rows):
        y = 44 + number * 20 + number // 3 * 8
        picture.text(24, y + 12, words)
        picture.box(220, y, 420 * share, 15, colour)
        picture.text(228 + 420 * share, y + 12, f"{share:.2f}")
    return picture.finish()


def _share_with_others(left_out: str, answers: Sequence[bool]) -> float:
    """Return how often answers are those of the people other than one."""
    same = [
        answer == other
        for case, answer in zip(labelled_cases(), answers, strict=True)
        for who, other in case.people.items()
        if who != left_out
    ]
    return sum(same) / len(same)


def corrected_picture() -> str:
    """Return the means of both judges, of the labels, and the corrected ones."""
    with tempfile.TemporaryDirectory() as folder:
        run_suite_sync(load_suite(EXAMPLE / "suite.yaml"), out=Path(folder) / "run")
        correction = judgekit.correct_means(Path(folder) / "run", EXAMPLE / "labels.jsonl")
    picture = Picture(290, "Means with intervals: judge, labels alone, corrected")
    start, span = 190, 500

    def at(value: float) -> float:
        return start + span * (value - 0.3) / 0.6

    for mark in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        picture.text(at(mark), 270, f"{mark:.1f}", anchor="middle")
        picture.line(at(mark), 246, (at(mark), 252))
    picture.line(at(0.3), 246, (at(0.9), 246))
    picture.line(at(0.5), 24, (at(0.5), 246), dashed=True)
    picture.text(at(0.5) + 6, 24, "the truth of the simulation")
    y = 50
    for one in (each for each in correction.means if each.criterion is None):
        picture.text(24, y + 4, one.metric, bold=True)
        for words, mean, colour in (
            ("judge", one.judge, RED if one.metric == "lenient" else GREEN),
            ("labels alone", one.labels, BLUE),
            ("corrected", one.corrected, INK),
        ):
            picture.text(178, y + 5, words, anchor="end")
            if mean.low is not None and mean.high is not None and mean.value is not None:
                picture.box(at(mean.low), y - 2, at(mean.high) - at(mean.low), 4, colour)
                picture.box(at(mean.value) - 4, y - 8, 8, 16, colour)
            y += 30
        y += 12
    return picture.finish()


PICTURES = {
    "pictures/agreement.svg": agreement_picture,
    "pictures/chance.svg": chance_picture,
    "pictures/labellers.svg": labeller_picture,
    "pictures/corrected.svg": corrected_picture,
}
