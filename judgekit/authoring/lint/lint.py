"""Lint: look at rubric files by every rule, and say what was found and what was silenced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from judgekit.authoring.lint.finding import SEVERITIES, Finding, Said, Severity, finding
from judgekit.authoring.lint.observed import Seen, observe, rubrics_in
from judgekit.authoring.lint.registry import RULES
from judgekit.authoring.lint.results import ABOUT_ROWS, MINIMUM, Verdicts
from judgekit.authoring.lint.rule import Rule
from judgekit.authoring.lint.silence import faults, silenced, silences
from judgekit.authoring.lint.subject import Subject
from judgekit.core.errors import ConfigError, RubricError
from judgekit.rubric.shelf import SUFFIX, find_rubric

MOST_FILES = 1_000
"""Files one folder may have; a folder with more is not one of rubrics."""


class Linted:
    """What lint found.

    Attributes:
        files: the files looked at.
        findings: everything found, by file and line; silenced findings among them.
    """

    def __init__(self, files: Sequence[Path], findings: Iterable[Finding]) -> None:
        self.files = tuple(files)
        self.findings = tuple(sorted(set(findings), key=_place))

    @property
    def open(self) -> tuple[Finding, ...]:
        """What is not silenced."""
        return tuple(found for found in self.findings if found.silenced is None)

    def count(self, severity: Severity) -> int:
        """Return how many open findings are of a severity."""
        return sum(found.severity == severity for found in self.open)

    def exit_code(self, *, strict: bool = False) -> int:
        """Return 1 if there is an error, or with `strict` a warning; else 0."""
        failing = self.count("error") + (self.count("warning") if strict else 0)
        return 1 if failing else 0


def _place(found: Finding) -> tuple[str, int, int, str, str]:
    return found.file, found.line, SEVERITIES.index(found.severity), found.rule, found.message


def lint_rubrics(
    sources: Sequence[str | Path] = (),
    *,
    results: str | Path | None = None,
    minimum: int | None = None,
) -> Linted:
    """Look at rubrics by every rule; nothing is asked of a judge.

    Args:
        sources: names, files and folders; the folder `rubrics` by default.
        results: a run folder, for what the rubrics' verdicts give away.
        minimum: verdicts a criterion needs before anything is said of it.

    Raises:
        ConfigError: there is no such rubric, or no such run.
    """
    if results is not None and not sources and not Path("rubrics").is_dir():
        sources = _named_in(Path(results))
    paths = rubric_files(sources)
    subjects = [_subject(path) for path in paths]
    seen: dict[str, Seen] = {}
    if results is not None:
        rubrics = {s.rubric.name: s.rubric for s in subjects if isinstance(s, Subject) and s.rubric}
        seen = observe(Path(results), rubrics)
    found: list[Finding] = []
    for subject in subjects:
        if isinstance(subject, Finding):
            found.append(subject)
            continue
        name = subject.rubric.name if subject.rubric is not None else ""
        verdicts = (
            Verdicts(subject, seen[name], MINIMUM if minimum is None else max(1, minimum))
            if name in seen
            else None
        )
        found += findings_in(subject, verdicts=verdicts)
    return Linted(paths, found)


def _subject(path: Path) -> Subject | Finding:
    try:
        return Subject(path)
    except RubricError as exc:  # it vanished, or cannot be read
        said = Said(exc.where or str(path), _without_place(exc))
        return finding(said, rule=exc.rule, severity="error")


def _named_in(folder: Path) -> list[Path]:
    """Return the files of the rubrics a run was judged by, as far as they are found from here."""
    found: list[Path] = []
    for name in rubrics_in(folder):
        with suppress(RubricError):
            found.append(find_rubric(name))
    if not found:
        message = "none of its rubrics is found from here; name them"
        raise ConfigError(message, where=str(folder))
    return found


def rubric_files(sources: Sequence[str | Path]) -> list[Path]:
    """Return the rubric files that names, files and folders stand for, each once.

    A folder without rubrics stands for the folder `rubrics` in it.

    Raises:
        ConfigError: there is none.
    """
    if not sources:
        if not Path("rubrics").is_dir():
            raise ConfigError("no folder `rubrics` here; name a rubric, a file or a folder")
        sources = ("rubrics",)
    paths: list[Path] = []
    for source in sources:
        folder = Path(source)
        if not folder.is_dir():
            paths.append(find_rubric(source))
            continue
        inside = _rubrics_of(folder) or _rubrics_of(folder / "rubrics")
        if not inside:
            raise ConfigError(f"no rubric in it (FILE{SUFFIX})", where=str(folder))
        if len(inside) > MOST_FILES:
            raise ConfigError(f"more than {MOST_FILES:,} rubrics; name them", where=str(folder))
        paths += inside
    return list(dict.fromkeys(paths))


def _rubrics_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if path.is_file())


def findings_in(subject: Subject, *, verdicts: Verdicts | None = None) -> list[Finding]:
    """Return everything the rules find in one file, silenced or not."""
    found = [_fault(fault, subject) for fault in subject.faults]
    asked: list[str] = []
    for rule in RULES.values():
        about: Any = verdicts if rule.needs == "results" else subject
        if rule.check is None or about is None or not _applies(rule, subject):
            continue
        try:
            said_all = list(rule.check(about))
        except RecursionError:
            said_all = [Said(str(subject.path), "nests too deeply to be looked at")]
        found += [finding(said, rule=rule.id, severity=rule.severity) for said in said_all]
        enough = verdicts is not None and verdicts.seen.rows >= verdicts.minimum
        if rule.needs != "results" or enough or rule.id in ABOUT_ROWS:
            asked.append(rule.id)
    given = silences(subject)
    found = silenced(found, given)
    known = [rule.id for rule in RULES.values() if rule.silenceable]
    for rule_id, said in faults(given, found, known=known, asked=asked):
        found.append(finding(said, rule=rule_id, severity=RULES[rule_id].severity))
    return found


def _applies(rule: Rule, subject: Subject) -> bool:
    """Return whether a rule can look at a subject.

    A file that does not load is looked at as far as its front matter goes.
    """
    if subject.partial:
        return rule.needs == "template" and not subject.faults
    if rule.needs in ("rubric", "results"):
        return subject.rubric is not None
    return subject.readable


def _fault(fault: RubricError, subject: Subject) -> Finding:
    said = Said(fault.where or str(subject.path), _without_place(fault))
    return finding(said, rule=fault.rule if fault.rule in RULES else "bad-rubric", severity="error")


def _without_place(exc: RubricError) -> str:
    return str(exc).removeprefix(f"{exc.where}: ") if exc.where else str(exc)
