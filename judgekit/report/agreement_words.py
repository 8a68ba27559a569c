"""Show agreement as sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from judgekit.core.display.parts import (
    MOST_NAME,
    DisplayLine,
    DisplayPart,
    DisplayTable,
    counted,
    cut,
    more,
)
from judgekit.report.thresholds import FEW
from judgekit.stats.intervals import Coefficient

if TYPE_CHECKING:
    from judgekit.report.calibration import Agreement, AgreementStatistic, Calibration

STATISTICS = {
    "alpha_nominal": "alpha (nominal)", "alpha_ordinal": "alpha (ordinal)",
    "alpha_interval": "alpha (interval)", "precision": "precision",
    "recall": "recall (sensitivity)", "specificity": "specificity", "f1": "F1",
    "balanced_f1": "balanced F1", "macro_f1": "macro F1", "same": "share of equal answers",
    "kappa": "kappa", "spearman": "Spearman's rho",
    "pearson": "Pearson's r", "kendall": "Kendall's tau-b",
    "same_order": "pairs in the same order",
    "mae": "mean absolute error", "rmse": "root mean squared error",
    "positional": "positional agreement", "either_order": "right in either order",
    "both_orders": "right in both orders",
    "probability": "probability of people's answers", "brier": "Brier score",
    "brier_reference": "Brier score of the labels' shares", "stated": "stated probability",
    "right": "share that is right", "overconfidence": "stated less right",
}  # fmt: skip
"""Name of a statistic -> its label."""
MOST_CRITERIA = 20
"""Maximum number of criteria in a notebook."""
_MOST = 1000
"""Maximum length of a line, in characters."""
_IN_A_LINE = ("kappa", "spearman", "pearson", "kendall", "same_order")
NO_NAME = "(no name)"


def sentence(agreement: Agreement) -> str:
    """Return an interpretation of the figures."""
    figure = agreement.kappa or agreement.rank
    if agreement.kappa is not None and agreement.kappa.value is None:
        return "All answers are the same: agreement cannot be measured."
    if figure is None or figure.value is None:
        return "The judge or the people gave only one answer: a rank correlation needs two."
    parts = []
    if agreement.same is not None:
        parts.append(f"{agreement.same} of {agreement.pairs} answers are the same")
    if agreement.failed:
        replies = "replies count" if agreement.failed > 1 else "reply counts"
        parts.append(f"{agreement.failed} failed {replies} as disagreement")
    if one_answer := _one_answer(agreement):
        parts.append(one_answer)
    elif figure.low is None or figure.high is None:
        parts.append(f"too few for an interval ({figure.too_few})")
    elif figure.low <= 0 <= figure.high:
        parts.append(
            f"not distinguishable from chance on these {counted(agreement.cases, 'case')}: the "
            "interval contains 0"
        )
    elif figure.high < 0:
        parts.append("the judge disagrees with people more than chance would")
    else:
        parts.append(f"better than chance; {_between_people(agreement)}")
    if agreement.cases < FEW:
        parts.append(f"{agreement.cases} cases give only a first impression")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def _one_answer(agreement: Agreement) -> str:
    """Return the sentence about a side that gave one answer only; empty if both gave several."""
    people = [n for n, column in enumerate(zip(*agreement.table, strict=True)) if any(column)]
    judge = [n for n, row in enumerate(agreement.table) if any(row)]
    for side, places in (("people", people), ("the judge", judge)):
        if len(places) == 1:
            answer = agreement.categories[places[0]]
            return (
                f"{side} gave one answer, {answer}, so kappa is 0 whatever the other side answers: "
                "it measures nothing here"
            )
    return ""


def _between_people(agreement: Agreement) -> str:
    people = agreement.people_kappa if agreement.kappa is not None else agreement.people_rank
    if people is None or people.value is None:
        return "agreement between people is unknown"
    return f"between people it is {people.text}"


def _figures(name: str, kappa: Coefficient | None, rank: Coefficient | None) -> str:
    figures = {name: kappa, "Spearman": rank}
    return ", ".join(f"{name} {one.text}" for name, one in figures.items() if one is not None)


def _more_lines(agreement: Agreement) -> Iterator[str]:
    """Yield the secondary statistics: alpha, and the F1 of yes/no."""
    known, people = _statistics(agreement)
    for name in [n for n in known if n.startswith("alpha_")][-1:]:
        kind, cases = name.removeprefix("alpha_"), counted(known[name].n, "case")
        between = f"; of people alone {people[name].text}" if name in people else ""
        yield f"alpha ({kind}) of judge and people {known[name].text}{between}, {cases}"
    if "balanced_f1" in known:
        between = f" (between people {people['balanced_f1'].text})" if people else ""
        words = ("precision", "recall", "specificity")
        shares = (f"{word} {known[word].text} of {known[word].n}" for word in words)
        yield f"balanced F1 {known['balanced_f1'].text}{between}, {', '.join(shares)}"
    yield from _of_probabilities(known)
    yield from _of_errors(known)
    yield from _of_orders(known)


_Statistics = Mapping[str, "AgreementStatistic"]


def _of_probabilities(known: _Statistics) -> Iterator[str]:
    if "probability" not in known:
        return
    probability, brier = (known[name] for name in ("probability", "brier"))
    score, of = f"Brier score {brier.text}", counted(probability.n, "pair")
    if "brier_reference" in known:
        reference = known["brier_reference"].text.removesuffix(" [too few]")
        score += f" (0 is best; stating the shares of the labels alone: {reference})"
    yield f"probability of people's answers {probability.text}, {score}, {of}"
    if "stated" in known:
        stated, right, over = (known[name] for name in ("stated", "right", "overconfidence"))
        yield (
            f"the judge's most probable answers: stated {stated.value or 0:.2f} on average, "
            f"right {right.text}; stated less right {over.text}, {of}"
        )


def _of_errors(known: _Statistics) -> Iterator[str]:
    if "macro_f1" in known:
        yield f"macro F1 {known['macro_f1'].text}, {counted(known['macro_f1'].n, 'pair')}"
    if "mae" in known:
        absolute, root, of = known["mae"], known["rmse"], counted(known["mae"].n, "pair")
        yield f"mean absolute error {absolute.text}, root mean squared error {root.text}, {of}"


def _of_orders(known: _Statistics) -> Iterator[str]:
    if "positional" in known:
        names = {
            "positional": "both orders prefer the same answer in",
            "either_order": "a single order is right in",
            "both_orders": "both orders are right in",
        }
        shares = ", ".join(f"{what} {known[name].text}" for name, what in names.items())
        yield f"{shares}, {counted(known['positional'].n, 'pair')} of orders"


def _statistics(agreement: Agreement) -> Iterator[dict[str, AgreementStatistic]]:
    for figures in (agreement.statistics, agreement.people_statistics):
        yield {one.name: one for one in figures}


def extra_lines(agreement: Agreement) -> Iterator[str]:
    """Yield agreement within groups, about systems, and the alternative test."""
    if (groups := agreement.groups) is not None:
        means = _listed(groups.statistics)
        yield f"within {groups.groups} groups of {groups.field}, averaged: {means}"
    if (systems := agreement.systems) is not None:
        by = f" of {systems.field}" if systems.field is not None else ""
        yield f"mean scores of {len(systems.systems)} systems{by}: {_listed(systems.statistics)}"
    if agreement.alt_test is not None:
        yield from agreement.alt_test.lines


def _listed(statistics: Sequence[AgreementStatistic]) -> str:
    shown = [one for one in statistics if one.name in _IN_A_LINE]
    figures = ", ".join(f"{STATISTICS[one.name]} {one.text} over {one.n}" for one in shown)
    few = [one.too_few for one in shown if one.too_few]
    return f"{figures} ({few[0]})" if few else figures


def agreement_parts(
    calibration: Calibration, *, everything: bool = False, most: int | None = None
) -> Iterator[DisplayPart]:
    """Yield the parts of agreement with people.

    Args:
        calibration: the agreement.
        everything: whether to show every statistic, labeller and system.
        most: the number of criteria to show; `None` for all.
    """
    shown = calibration.criteria[:most]
    for agreement in shown:
        yield DisplayLine(cut(_counts_line(agreement), _MOST), "title")
        for line in filter(None, _lines(agreement)):
            yield DisplayLine(cut(line, _MOST))
        if agreement.table:
            names = [cut(name, 20) for name in agreement.categories]
            rows = [
                [name, *(str(count or "·") for count in counts)]
                for name, counts in zip(names, agreement.table, strict=True)
            ]
            yield DisplayTable(["judge / people", *names], rows, numbers=range(1, len(names) + 1))
        if everything:
            yield from detail_tables(agreement)
        yield DisplayLine("")
    for name, why in calibration.problems.items():
        yield DisplayLine(cut(f"{name}: not compared: {why}", _MOST), "title")
    left = more(len(calibration.criteria) - len(shown), "row", ".criteria")
    for line in filter(None, (left, calibration.intervals, calibration.sampling)):
        yield DisplayLine(line, "note")
    for warning in calibration.label_warnings:
        yield DisplayLine(cut(f"warning: {warning}.", _MOST), "bad")


def _lines(agreement: Agreement) -> Iterator[str]:
    yield _figures(agreement.kappa_name, agreement.kappa, agreement.rank)
    if agreement.people_pairs:
        people = _figures("kappa", agreement.people_kappa, agreement.people_rank)
        same = next((one for one in agreement.people_statistics if one.name == "same"), None)
        people += f", the same answer in {same.text}" if same is not None else ""
        yield f"people among themselves: {people}, {counted(agreement.people_pairs, 'pair')}"
    yield from _more_lines(agreement)
    yield agreement.sentence
    yield from agreement.jury.lines if agreement.jury is not None else ()
    yield from extra_lines(agreement)
    yield from label_lines(agreement)


def detail_tables(agreement: Agreement) -> Iterator[DisplayTable]:
    """Yield every statistic, each labeller, and each system as tables."""
    kappa, (known, people) = agreement.kappa_name, _statistics(agreement)
    rows = [
        [kappa if name == "kappa" else shown, *_cells(known.get(name), people.get(name))]
        for name, shown in STATISTICS.items() if name in known or name in people
    ]  # fmt: skip
    yield DisplayTable(("", "judge and people", "n", "people", "n"), rows, numbers=(2, 4))
    if agreement.probability_bins:
        rows = [[f"from {one.least:g}", f"{one.stated:.2f}",
                 Coefficient(one.right, one.low, one.high).text, str(one.n)]
                for one in agreement.probability_bins]  # fmt: skip
        head = ["most probable answer", "stated", "right", "n"]
        yield DisplayTable(head, rows, numbers=(1, 3))
    if agreement.groups is not None:
        rows = [[STATISTICS[one.name], *_cells(one)] for one in agreement.groups.statistics]
        head = [f"within groups of {agreement.groups.field}", "judge and people", "n"]
        yield DisplayTable(head, rows, numbers=(2,))
    if len(agreement.by_labeller) > 1:
        first = f"labeller: {'kappa' if agreement.kappa else STATISTICS['spearman']}"
        rows = [[one.labeller or NO_NAME, *_cells(one.judge, one.others)]
                for one in agreement.by_labeller]  # fmt: skip
        head = [first, "with the judge", "n", "with other labellers", "n"]
        yield DisplayTable(head, rows, numbers=(2, 4))
    if agreement.alt_test is not None and agreement.alt_test.labellers:
        rows = [[test.labeller or NO_NAME, f"{test.difference:+.2f}", f"{test.advantage:.2f}",
                 f"{test.p:.4f}", str(test.n), "yes" if test.wins else "no"]
                for test in agreement.alt_test.labellers]  # fmt: skip
        head = ["left out", "labeller less judge", "judge as good", "p", "n", "judge wins"]
        yield DisplayTable(head, rows, numbers=(1, 2, 3, 4))
    if agreement.systems is not None:
        rows = [[mean.system, f"{mean.judge:.3f}", f"{mean.people:.3f}", str(mean.cases)]
                for mean in agreement.systems.systems]  # fmt: skip
        yield DisplayTable(("system", "judge", "people", "cases"), rows, numbers=(1, 2, 3))


def _cells(*statistics: AgreementStatistic | None) -> list[str]:
    return [cell for one in statistics for cell in ((one.text, str(one.n)) if one else ("", ""))]


def _counts_line(agreement: Agreement) -> str:
    clusters = f" in {agreement.clusters} clusters" if agreement.clusters is not None else ""
    by = f" by {', '.join(agreement.labellers)}" if agreement.labellers else ""
    by += f", the {agreement.combine} of each case" if agreement.combine != "each" else ""
    return f"{cut(agreement.name, 2 * MOST_NAME)}: {counted(agreement.cases, 'case')}{clusters}{by}"


def label_lines(agreement: Agreement) -> Iterator[str]:
    """Yield the number of labels without a digest, and of ignored labels by reason."""
    if count := agreement.without_digest:
        verb = "label does" if count == 1 else "labels do"
        yield f"{count} {verb} not name an output: matched by case id alone"
    for reason, count in agreement.left_out.items():
        yield f"{count} left out: {reason}"
