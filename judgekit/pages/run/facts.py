"""What the head of a page says of a run: the verdict, and what the run was made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple

from judgekit.pages.run.payload import Maker
from judgekit.report.calibrated import CALIBRATED, COMPARED
from judgekit.report.manifest import cluster_field
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary
from judgekit.report.text import few_lines

Verdict = Literal["pass", "complete", "missed", "incomplete"]


class Fact(NamedTuple):
    """One thing to know of a run."""

    name: str
    value: str
    more: str = ""
    """Shown smaller, such as a digest."""


class Facts:
    """Reads a report for its head. Manifest and run facts may lack anything."""

    def __init__(self, report: Report, *, makers: Mapping[str, tuple[Maker, ...]]) -> None:
        self._report = report
        self._made = makers
        self._manifest = report.figures.manifest
        self._run = report.run
        suite = self._manifest.get("suite")
        self._suite: dict[str, Any] = (
            suite if isinstance(suite, dict) else {"name": suite} if suite else {}
        )

    @property
    def title(self) -> str:
        """The suite's name."""
        return str(self._suite.get("name") or "judgekit report")

    @property
    def description(self) -> str:
        """What the suite says of itself."""
        return str(self._suite.get("description") or "")

    @property
    def cluster(self) -> str | None:
        """The field that intervals go by, if there is one."""
        return cluster_field(self._manifest)

    @property
    def notice(self) -> str:
        """What every reader must know first, if anything."""
        return str(self._manifest.get("notice") or "")

    @property
    def verdict(self) -> Verdict:
        """The outcome, as the exit code has it; without gates there is nothing to pass."""
        code = self._report.exit_code
        if code == 0:
            return "pass" if self._report.figures.gates else "complete"
        return "missed" if code == 1 else "incomplete"

    @property
    def verdict_word(self) -> str:
        """The outcome in a word or two."""
        gates = self._report.figures.gates
        missed = sum(not gate.passed for gate in gates)
        words = {
            "pass": "Pass",
            "complete": "Complete",
            "missed": f"{missed} of {len(gates)} gates missed" if len(gates) > 1 else "Gate missed",
            "incomplete": "Incomplete",
        }
        return words[self.verdict]

    @property
    def doubts(self) -> list[str]:
        """What to know before the figures: judges that were not compared, or miss their bar."""
        return [line for line in self._report.calibration if not line.startswith(_COMPARED)]

    @property
    def asides(self) -> list[str]:
        """What else to know of the verdict."""
        unchecked = self._manifest.get("gates_not_checked")
        said = []
        if isinstance(unchecked, list) and unchecked:
            said.append(f"Gates not checked without a judge: {', '.join(map(str, unchecked))}.")
        return [*said, *few_lines(self._report.figures.metrics)]

    def made_by(self, summary: MetricSummary) -> str:
        """Return what made a metric's values, in a few words."""
        makers = self._makers(summary.metric)
        if makers:
            return "; ".join(
                f"judged by {m.model or 'an unnamed judge'}{', rubric ' * bool(m.rubric)}{m.rubric}"
                for m in makers
            )
        return "computed" if summary.computed and not summary.judged else ""

    def _makers(self, metric: str) -> tuple[Maker, ...]:
        """Return what the results name, or where nothing was judged, what the manifest names."""
        if metric in self._made:
            return self._made[metric]
        entries = self._manifest.get("metrics")
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and entry.get("name") == metric:
                made_with = entry.get("made_with")
                return (Maker.of(made_with),) if isinstance(made_with, dict) else ()
        return ()

    @cached_property
    def _all_makers(self) -> list[Maker]:
        names = [summary.metric for summary in self._report.figures.metrics]
        return list(dict.fromkeys(maker for name in names for maker in self._makers(name)))

    @property
    def facts(self) -> list[Fact]:
        """The facts in the order they are shown."""
        figures = self._report.figures
        return [
            Fact("Cases", f"{figures.cases:,}"),
            *self._judges(),
            *self._rubrics(),
            *self._calibration(),
            Fact("Data set", figures.dataset[:12]),
            *self._replies(),
            *self._costs(),
            *self._duration(),
            Fact("judgekit", str(self._manifest.get("judgekit", "unknown version"))),
        ]

    def _judges(self) -> Iterator[Fact]:
        models = list(dict.fromkeys(maker.model for maker in self._all_makers if maker.model))
        if models:
            yield Fact("Judge" if len(models) == 1 else "Judges", ", ".join(models))
        mixed = self._run.get("mixed")
        for model, several in mixed.items() if isinstance(mixed, dict) else ():
            if isinstance(several, list):
                who = "; ".join(map(str, several))
                yield Fact("Mixed", who, f"several answered as {model}")
        found = self._run.get("judges")
        for role, facts in found.items() if isinstance(found, dict) else ():
            if isinstance(facts, dict) and facts.get("mode"):
                served = f"served as {facts['server']}" if facts.get("server") else ""
                yield Fact(f"{role} asked by", str(facts["mode"]), served)

    def _rubrics(self) -> Iterator[Fact]:
        named = dict.fromkeys((m.rubric, m.digest[:8]) for m in self._all_makers if m.rubric)
        for rubric, digest in named:
            yield Fact("Rubric", rubric, digest)

    def _calibration(self) -> Iterator[Fact]:
        for line in self._report.calibration:
            word, _, more = line.partition(": ")
            if line.startswith(_COMPARED):
                yield Fact("Against people", word, more)

    def _replies(self) -> Iterator[Fact]:
        origins = self._run.get("origins")
        if isinstance(origins, dict):
            said = [f"{origins.get(name) or 0:,} {word}" for name, word in _ORIGINS]
            yield Fact("Replies", ", ".join(said), self._recording())

    def _recording(self) -> str:
        record = self._run.get("record")
        said = [f"record mode {record}"] if record else []
        for name, words in (("missed", "not recorded"), ("unused", "recorded but not used")):
            count = self._run.get(name)
            if isinstance(count, int) and count:
                said.append(f"{count:,} {words}")
        return ", ".join(said)

    def _costs(self) -> Iterator[Fact]:
        for name, word, unpriced in _COSTS:
            if name not in self._run:
                continue
            more = self._run.get(unpriced)
            note = f"+ {more:,} of unknown price" if isinstance(more, int) and more else ""
            yield Fact(word, dollars(self._run[name]), note)

    def _duration(self) -> Iterator[Fact]:
        if started := self._run.get("started"):
            yield Fact("Started", str(started))
        seconds = self._run.get("seconds")
        if isinstance(seconds, int | float):
            yield Fact("Took", _duration(seconds))


_COMPARED = (CALIBRATED, COMPARED)
_ORIGINS = (("live", "live"), ("tape", "from the tape"), ("store", "from the store"))
_COSTS = (("spent", "Spent", "unpriced"), ("avoided", "Avoided", "unpriced_replays"))


def dollars(amount: Any) -> str:
    """Return an amount of money; what no price is known for is unknown, never 0.

    >>> dollars(0.01234), dollars(None)
    ('$0.0123', 'unknown')
    """
    if not isinstance(amount, int | float):
        return "unknown"
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
