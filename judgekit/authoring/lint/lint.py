"""Check rubric files against all rules, and apply their silences."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.authoring.lint import scales, templates, whole, wording  # noqa: F401
from judgekit.authoring.lint.results import ABOUT_ROWS, MINIMUM, ObservedRubric, observe, rubrics_in
from judgekit.authoring.lint.rule import CHECKS, Linted, LintFinding, LintRule, Problem, near_rule
from judgekit.authoring.lint.subject import LintSubject, TemplateFile, without_place

# Importing a module of rules registers its checks.
from judgekit.core.arguments import checked
from judgekit.core.errors import ConfigError, RubricError, place
from judgekit.core.yaml_file import package_data
from judgekit.rubric.folders import read_file
from judgekit.rubric.library import find_rubric, find_where_folders_may_be
from judgekit.rubric.versions import SUFFIX

_RULES = Path(__file__).with_name("rules.yaml")


_FOUND_ELSEWHERE = ("Loading", "Silences")
"""Families without checks: loading a rubric and reading its silences report their problems."""


@cache
def rule_families() -> dict[str, tuple[LintRule, ...]]:
    """Return heading -> its rules, in the order of the documentation.

    Raises:
        RuntimeError: a rule has no check, or a check has no rule; without this, neither would have
            an effect.
    """
    families = {
        heading: tuple(LintRule(id, check=CHECKS.get(id), **text) for id, text in rules.items())
        for heading, rules in package_data(_RULES).items()
    }
    described = {
        rule.id
        for heading, rules in families.items()
        for rule in rules
        if heading not in _FOUND_ELSEWHERE
    }
    if lonely := sorted(described ^ CHECKS.keys()):
        raise RuntimeError(
            f"lint rule {lonely[0]!r} needs an entry in {_RULES.name} and a check in a module that "
            f"{Path(__file__).name} imports; it has one of them"
        )
    return families


@cache
def lint_rules() -> dict[str, LintRule]:
    """Return id -> rule."""
    return {rule.id: rule for rules in rule_families().values() for rule in rules}


MOST_FILES = 1_000
"""Maximum number of files in a folder of rubrics."""


@checked
def lint_rubrics(
    sources: Sequence[str | Path] = (),
    *,
    results: str | Path | None = None,
    minimum: int | None = None,
    api: str | None = None,
) -> Linted:
    """Check rubrics against all rules. No judge is called.

    Args:
        sources: names, files and folders; the folder `rubrics` by default.
        results: a run folder, to check the verdicts of the rubrics as well.
        minimum: minimum number of verdicts of a criterion for rules on results.
        api: the API of a judge, to report questions that a decision endpoint does not support.

    Raises:
        ConfigError: a rubric or the run does not exist.
    """
    if results is not None and not sources and not Path("rubrics").is_dir():
        sources = _rubrics_of_run(Path(results))
    paths = rubric_files(sources)
    subjects: list[LintSubject] = []
    findings: list[LintFinding] = []
    for path in paths:
        try:
            subjects.append(LintSubject(path))
        except RubricError as exc:  # the file was removed, or cannot be read
            findings.append(_not_loaded(exc, path))
    rubrics = {subject.rubric.name: subject.rubric for subject in subjects if subject.rubric}
    observed = {} if results is None else observe(Path(results), rubrics)
    least = MINIMUM if minimum is None else max(1, minimum)
    for subject in subjects:
        verdicts = observed.get(subject.rubric.name) if subject.rubric is not None else None
        about = ObservedRubric(subject, verdicts, least) if verdicts is not None else None
        findings += findings_in(subject, observed=about, api=api)
    return Linted(paths, findings)


def _rubrics_of_run(folder: Path) -> list[Path]:
    """Return the files of a run's rubrics that can be found from the working folder."""
    files: list[Path] = []
    for name in rubrics_in(folder):
        with suppress(RubricError):
            files.append(find_rubric(name))
    if not files:
        raise ConfigError("no rubric of this run is found from here; name them", where=str(folder))
    return files


def rubric_files(sources: Sequence[str | Path]) -> list[Path]:
    """Return the rubric files of names, files and folders, each once.

    For a folder without rubrics, its subfolder `rubrics` is used.

    Raises:
        ConfigError: there are no rubrics.
    """
    if not sources:
        if not Path("rubrics").is_dir():
            raise ConfigError("no folder `rubrics` here; name a rubric, a file or a folder")
        sources = ("rubrics",)
    paths: list[Path] = []
    for source in sources:
        folder = Path(source)
        if not folder.is_dir():
            paths.append(find_where_folders_may_be(source))
            continue
        inside = _files_in(folder) or _files_in(folder / "rubrics")
        if not inside:
            message = f"this folder has no rubric (NAME{SUFFIX}); name another"
            raise ConfigError(message, where=str(folder))
        if len(inside) > MOST_FILES:
            raise ConfigError(f"more than {MOST_FILES:,} rubrics; name them", where=str(folder))
        paths += inside
    return list(dict.fromkeys(paths))


def _files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if path.is_file())


def findings_in(
    subject: LintSubject, *, observed: ObservedRubric | None = None, api: str | None = None
) -> list[LintFinding]:
    """Return all findings in one file, silenced or not."""
    rules = lint_rules()
    findings = [_not_loaded(error, subject.path) for error in subject.faults]
    checked: list[str] = []
    for rule in rules.values():
        about: Any = observed if rule.needs == "results" else subject
        if rule.check is None or about is None or not _applies(rule, subject, api=api):
            continue
        try:
            problems = list(rule.check(about))
        except RecursionError:
            problems = [Problem(str(subject.path), "nests too deeply to be checked")]
        findings += [rule.finding(one) for one in problems]
        enough = observed is not None and observed.verdicts.rows >= observed.minimum
        if rule.needs != "results" or enough or rule.id in ABOUT_ROWS:
            checked.append(rule.id)
    own = tuple(silences(subject))
    findings = [_silenced(one, own) for one in findings]
    wrong = silence_problems(own, findings, checked)
    return findings + [rules[id].finding(problem) for id, problem in wrong]


def _applies(rule: LintRule, subject: LintSubject, *, api: str | None) -> bool:
    """Return whether a rule can check a subject; without a rubric, only front matter is checked."""
    if subject.partial:
        return rule.needs == "template" and not subject.faults
    if rule.needs in ("rubric", "results", "api"):
        return subject.rubric is not None and (rule.needs != "api" or api is not None)
    return subject.readable


def _not_loaded(error: RubricError, path: Path) -> LintFinding:
    problem, rules = Problem(error.where or str(path), without_place(error)), lint_rules()
    return rules.get(error.rule, rules["bad-rubric"]).finding(problem, severity="error")


MOST = 100
"""Maximum number of comments of a template to read."""
_COMMENT = re.compile(r"\{#-?\s*lint\s+([\w-]{1,60})\s*:([^#]{0,500}?)-?#\}")


class Silence(NamedTuple):
    """A rule that is turned off for a file, or for one of its criteria."""

    rule: str
    reason: str
    where: str
    criterion: str | None = None
    template: str | None = None
    """The partial template that contains it; it applies only to this file."""

    def covers(self, finding: LintFinding) -> bool:
        """Return whether it applies to a finding."""
        if self.rule != finding.rule or self.criterion not in (None, finding.criterion):
            return False
        return self.template in (None, finding.file)


def silences(subject: LintSubject) -> Iterator[Silence]:
    """Yield the silences of a file and of its partial templates.

    A partial template has no front matter; it has comments, `{# lint RULE: reason #}`.
    """
    for body in () if subject.faults else subject.bodies:
        if body.name.startswith("_"):
            yield from _in_comments(body)
    if not subject.readable:
        return
    for rule, reason in subject.file.lint.items():
        yield Silence(rule, (reason or "").strip(), subject.at("lint", rule))
    for id, criterion in subject.file.criteria.items():
        for rule, reason in (criterion.lint if criterion is not None else {}).items():
            where = subject.at("criteria", id, "lint", rule)
            yield Silence(rule, (reason or "").strip(), where, id)


def _in_comments(body: TemplateFile) -> Iterator[Silence]:
    text = read_file(body.path)
    for match in islice(_COMMENT.finditer(text), MOST):
        where = place(body.path, text.count("\n", 0, match.start()) + 1)
        yield Silence(match[1], match[2].strip(), where, template=str(body.path))


def _silenced(one: LintFinding, silences: Sequence[Silence]) -> LintFinding:
    """Return a finding, marked if a silence with a reason covers it."""
    by = next((s for s in silences if s.reason and s.covers(one)), None)
    return one if by is None else one._replace(silenced=by.reason)


def silence_problems(
    silences: Sequence[Silence], findings: Sequence[LintFinding], checked: Collection[str]
) -> Iterator[tuple[str, Problem]]:
    """Yield the rule and the problem of each wrong silence.

    Args:
        silences: the silences of a file.
        findings: all findings in that file.
        checked: the rules that ran.
    """
    known = [id for id, rule in lint_rules().items() if rule.silenceable]
    for silence in silences:
        if silence.rule not in known:
            hint = near_rule(silence.rule, known)
            message = f"silences {silence.rule!r}, which is not a rule that can be silenced{hint}"
            yield "silence-unknown", Problem(silence.where, message)
        elif not silence.reason:
            message = f"silences {silence.rule!r} without a reason"
            yield "silence-without-reason", Problem(silence.where, message)
        elif silence.template is not None:
            continue  # its findings appear where the partial template is used
        elif silence.rule in checked and not any(silence.covers(f) for f in findings):
            message = f"silences {silence.rule!r}, which has no finding here"
            yield "silence-unused", Problem(silence.where, message)
