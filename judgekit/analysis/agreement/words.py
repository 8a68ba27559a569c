"""Agreement as sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judgekit.core.canonical import printable
from judgekit.core.cells import cut, wrap
from judgekit.core.display.parts import DisplayTable
from judgekit.core.display.text import to_text
from judgekit.report.agreement import STATISTICS, AgreementStatistic
from judgekit.report.calibration import Agreement, Calibration

_IN_A_LINE = ("kappa", "spearman", "pearson", "kendall")
NO_NAME = "(no name)"
FEW = 30
"""With fewer cases than this, agreement is only a first impression."""


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
        failed = (
            f"{agreement.failed} failed repl{'ies count' if agreement.failed > 1 else 'y counts'}"
        )
        parts.append(f"{failed} as disagreement")
    if figure.low is None or figure.high is None:
        parts.append(f"too few for an interval ({figure.too_few})")
    elif figure.low <= 0 <= figure.high:
        parts.append("not distinguishable from chance")
    elif figure.high < 0:
        parts.append("the judge disagrees with people more than chance would")
    else:
        parts.append(f"better than chance; {_between_people(agreement)}")
    if agreement.cases < FEW:
        parts.append(f"{agreement.cases} cases give only a first impression")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def _between_people(agreement: Agreement) -> str:
    people = agreement.people_kappa if agreement.kappa is not None else agreement.people_rank
    if people is None or people.value is None:
        return "agreement between people is unknown"
    return f"between people it is {people.text}"


def figures_line(agreement: Agreement) -> str:
    """Return the figures in one line."""
    parts = []
    if agreement.kappa is not None:
        parts.append(f"{agreement.kappa_name} {agreement.kappa.text}")
    if agreement.rank is not None:
        parts.append(f"Spearman {agreement.rank.text}")
    return ", ".join(parts)


def people_line(agreement: Agreement) -> str | None:
    """Return the agreement between people; `None` if no case has two labellers."""
    if not agreement.people_pairs:
        return None
    parts = []
    if agreement.people_kappa is not None:
        parts.append(f"kappa {agreement.people_kappa.text}")
    if agreement.people_rank is not None:
        parts.append(f"Spearman {agreement.people_rank.text}")
    return f"people among themselves: {', '.join(parts)}, {agreement.people_pairs} pairs"


def more_lines(agreement: Agreement) -> Iterator[str]:
    """Yield the statistics that a reader asks for next: alpha, and the F1 of yes/no."""
    known, people = _statistics(agreement)
    for name in [n for n in known if n.startswith("alpha_")][-1:]:
        kind, cases = name.removeprefix("alpha_"), _count(known[name].n, "case")
        between = f"; of people alone {people[name].text}" if name in people else ""
        yield f"alpha ({kind}) of judge and people {known[name].text}{between}, {cases}"
    if "balanced_f1" in known:
        between = f" (between people {people['balanced_f1'].text})" if people else ""
        words = ("precision", "recall", "specificity")
        shares = (f"{word} {known[word].text} of {known[word].n}" for word in words)
        yield f"balanced F1 {known['balanced_f1'].text}{between}, {', '.join(shares)}"


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


def calibration_text(calibration: Calibration, *, width: int = 80, everything: bool = False) -> str:
    """Return agreement as text for a terminal.

    Args:
        calibration: the agreement.
        width: columns of the terminal.
        everything: whether to print every statistic, labeller and system.
    """
    lines: list[str] = []
    for agreement in calibration.criteria:
        lines += [*_criterion(agreement, width), ""]
        if everything:
            lines += [to_text(detail_tables(agreement), width=width).lstrip("\n"), ""]
    for line in (calibration.intervals, calibration.sampling):
        lines += wrap(line, width)
    return "\n".join(lines) + "\n"


def detail_tables(agreement: Agreement) -> Iterator[DisplayTable]:
    """Yield every statistic, each labeller, and each system as tables."""
    kappa, (known, people) = agreement.kappa_name, _statistics(agreement)
    rows = [
        [kappa if name == "kappa" else shown, *_cells(known.get(name), people.get(name))]
        for name, shown in STATISTICS.items() if name in known or name in people
    ]  # fmt: skip
    yield DisplayTable(("", "judge and people", "n", "people", "n"), rows, numbers=(2, 4))
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


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"


def _criterion(agreement: Agreement, width: int) -> Iterator[str]:
    by = f" by {', '.join(agreement.labellers)}" if agreement.labellers else ""
    cases = f"{agreement.cases} case{'s' if agreement.cases != 1 else ''}"
    cases += f" in {agreement.clusters} clusters" if agreement.clusters is not None else ""
    by += f", the {agreement.combine} of each case" if agreement.combine != "each" else ""
    yield from _wrapped(f"{agreement.name}: {cases}{by}", width, "  ")
    yield from _wrapped(f"  {figures_line(agreement)}", width, "    ")
    people = people_line(agreement)
    for line in (*([people] if people else []), *more_lines(agreement)):
        yield from _wrapped(f"  {line}", width, "    ")
    yield from _wrapped(f"  {agreement.sentence}", width, "  ")
    for line in (*_jury(agreement), *extra_lines(agreement)):
        yield from _wrapped(f"  {line}", width, "    ")
    for line in label_lines(agreement):
        yield from _wrapped(f"  {line}", width, "    ")
    yield from _table(agreement, width)


def label_lines(agreement: Agreement) -> Iterator[str]:
    """Yield the number of labels without a digest, and of labels left out by reason."""
    if count := agreement.without_digest:
        verb = "label does" if count == 1 else "labels do"
        yield f"{count} {verb} not name an output: matched by case id alone"
    for reason, count in agreement.left_out.items():
        yield f"{count} left out: {reason}"


def _table(agreement: Agreement, width: int) -> Iterator[str]:
    if not agreement.table:
        return
    names = [cut(printable(name), 14) for name in agreement.categories]
    each = max(6, *(len(name) for name in names))
    if 18 + (each + 1) * len(names) > width:
        each = 6
    head = " ".join(f"{cut(name, each):>{each}}" for name in names)
    yield f"  {'judge / people':<15} {head}"[:width]
    for name, row in zip(names, agreement.table, strict=True):
        counts = " ".join(f"{count or '.':>{each}}" for count in row)
        yield f"  {name:<15} {counts}"[:width]


def calibration_markdown(calibration: Calibration) -> str:
    """Return agreement as a table in Markdown."""
    from judgekit.report.markdown import escaped

    lines = [
        "| | cases | kappa | Spearman | people among themselves | |",
        "| --- | --: | --- | --- | --- | --- |",
    ]
    for one in calibration.criteria:
        cells = [
            one.name,
            str(one.cases),
            one.kappa.text if one.kappa else "",
            one.rank.text if one.rank else "",
            people_line(one) or "",
            " ".join([one.sentence, *(f"{line}." for line in _notes(one))]),
        ]
        lines.append(f"| {' | '.join(escaped(cell) for cell in cells)} |")
    lines += ["", f"{calibration.intervals} {calibration.sampling}"]
    return "\n".join(lines) + "\n"


def _notes(agreement: Agreement) -> list[str]:
    extra, left = extra_lines(agreement), label_lines(agreement)
    return [*_jury(agreement), *more_lines(agreement), *extra, *left]


def _jury(agreement: Agreement) -> list[str]:
    return agreement.jury.lines if agreement.jury is not None else []


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    bare = text.lstrip()
    return wrap(printable(bare), width, first=" " * (len(text) - len(bare)), then=indent)
