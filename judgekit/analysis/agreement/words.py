"""Agreement as sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator

from judgekit.core.canonical import printable
from judgekit.report.calibration import Agreement, Calibration
from judgekit.report.cells import cut, wrap

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
        kind = "kappa" if agreement.scale == "nominal" else "kappa (quadratic)"
        parts.append(f"{kind} {agreement.kappa.text}")
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


def calibration_text(calibration: Calibration, *, width: int = 80) -> str:
    """Return agreement as text for a terminal."""
    lines: list[str] = []
    for agreement in calibration.criteria:
        lines += [*_criterion(agreement, width), ""]
    lines += wrap(calibration.intervals, width)
    return "\n".join(lines) + "\n"


def _criterion(agreement: Agreement, width: int) -> Iterator[str]:
    by = f" by {', '.join(agreement.labellers)}" if agreement.labellers else ""
    cases = f"{agreement.cases} case{'s' if agreement.cases != 1 else ''}"
    cases += f" in {agreement.clusters} clusters" if agreement.clusters is not None else ""
    yield from _wrapped(f"{agreement.name}: {cases}{by}", width, "  ")
    yield from _wrapped(f"  {figures_line(agreement)}", width, "    ")
    if (line := people_line(agreement)) is not None:
        yield from _wrapped(f"  {line}", width, "    ")
    yield from _wrapped(f"  {agreement.sentence}", width, "  ")
    for line in _jury(agreement):
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
            " ".join([one.sentence, *(f"{line}." for line in (*_jury(one), *label_lines(one)))]),
        ]
        lines.append(f"| {' | '.join(escaped(cell) for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _jury(agreement: Agreement) -> list[str]:
    return agreement.jury.lines if agreement.jury is not None else []


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    bare = text.lstrip()
    return wrap(printable(bare), width, first=" " * (len(text) - len(bare)), then=indent)
