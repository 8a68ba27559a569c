"""Find the tests of rubrics and their cassettes, and replay or record them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from judgekit.authoring.rubric_test.agreement import (
    CriterionAgreement,
    JudgedTwice,
    Replies,
    count_replies,
    criterion_agreement,
)
from judgekit.authoring.rubric_test.check import TestOutcome, check_ordering, check_test
from judgekit.authoring.rubric_test.own_criteria import as_asked, metric_of
from judgekit.cassette.cassette import Cassette, store_opener
from judgekit.cassette.mode import RecordMode
from judgekit.cassette.tape import Tape, remove_records, tape_generation
from judgekit.core.canonical import canonical_json
from judgekit.core.case import Case, has_text
from judgekit.core.errors import AbstractRubric, ConfigError
from judgekit.core.generation import newest, of_generation
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.key_rules import judge_identity, keyed_params
from judgekit.core.protocols import Judge, Metric
from judgekit.core.score import Result
from judgekit.core.value import Value
from judgekit.core.yaml_file import Lines
from judgekit.judges.absent import AbsentJudge
from judgekit.judges.kinds import kind_of
from judgekit.judges.limits import LimitedJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.library import (
    builtin_folder,
    find_where_folders_may_be,
    package_folders,
    rubric_names,
)
from judgekit.rubric.load import load_rubric
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.testfile import WHOLE, RubricTest
from judgekit.rubric.versions import SUFFIX, home_of
from judgekit.runner.evaluation import evaluate_sync
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.judges import asks_in_terminal, make_judge

RUBRICS = "rubrics"
"""Name of the rubric folder; the folder `cassettes` is next to it."""
CASSETTES = Path("cassettes") / RUBRICS


def find_tested(sources: Sequence[str]) -> list[Rubric]:
    """Return the rubrics for names, files and folders; from folders, only those with tests.

    The default is the folder `rubrics`.

    Raises:
        ConfigError: there are no rubrics, or none has tests.
        RubricError: a rubric does not load.
    """
    if not sources and not Path(RUBRICS).is_dir():
        raise ConfigError("no folder `rubrics` here; name a rubric, a file or a folder")
    by_path: dict[Path, Rubric] = {}
    for source in sources or [RUBRICS]:
        folder = Path(source)
        # A plain word may be the name of a rubric and of an unrelated folder.
        named = folder.name == source and not (folder.is_dir() and rubric_names(folder))
        if named or not folder.is_dir():
            rubrics = [load_rubric(find_where_folders_may_be(source))]
        else:
            rubrics = _in_folder(folder)
        for rubric in rubrics:
            by_path.setdefault(rubric.path.resolve(), rubric)
    return list(by_path.values())


def _in_folder(folder: Path) -> list[Rubric]:
    names = rubric_names(folder)
    if not names:
        raise ConfigError("this folder has no rubric (*.jinja); name another", where=str(folder))
    rubrics = []
    for name in names:
        with suppress(AbstractRubric):
            rubric = load_rubric(folder / f"{name}{SUFFIX}")
            if rubric.tests:
                rubrics.append(rubric)
    if not rubrics:
        message = "no rubric in this folder has tests; write some under `tests:`"
        raise ConfigError(message, where=str(folder))
    return rubrics


def is_packaged(path: Path) -> bool:
    """Return whether a rubric is from an installed package, which has no cassettes."""
    folder, parent = builtin_folder(), home_of(path.resolve())
    if folder.name != RUBRICS and parent == folder.resolve():
        return True
    return any(parent == folder.path.resolve() for folder in package_folders())


def tape_of(path: Path, *, folder: Path | None = None) -> Path:
    """Return the cassette of the tests of a rubric; no file is created.

    It is `cassettes/rubrics/NAME.jsonl`, with the same subfolders, next to the nearest parent
    folder `rubrics` of the rubric; without such a folder, it is next to the rubric. For a rubric
    from an installed package, it is in the working folder.

    Args:
        path: the rubric file.
        folder: folder to use instead.
    """
    if folder is not None:
        return folder / f"{path.stem}.jsonl"
    if is_packaged(path):
        return CASSETTES / f"{path.stem}.jsonl"
    # Prefer the path as typed, because messages show it.
    for whole in (path, path.absolute()):
        for above in whole.parents:
            if above.name == RUBRICS:
                return above.parent / CASSETTES / whole.relative_to(above).with_suffix(".jsonl")
    return path.parent / CASSETTES / f"{path.stem}.jsonl"


UNKNOWN = "MODEL"
"""Name of the judge if none is recorded or given."""


class RubricTestSettings(NamedTuple):
    """Settings of a test run."""

    judge: JudgeFile | None = None
    """The judge; by default the one on the cassette."""
    record: RecordMode = RecordMode.NONE
    cassettes: Path | None = None
    """Folder of the cassettes, instead of the one next to the rubrics."""
    prune: bool = False
    """Whether to remove records that no test uses."""
    trial: bool = False
    """Whether replies of a judge that is not on the cassette stay in the private store."""


class RubricTestRun(Value):
    """The outcome of the tests of one rubric."""

    rubric: str
    file: str
    cassette: str
    recorded: bool
    """Whether the cassette exists."""
    judge: str
    by_hand: bool
    """Whether a person wrote the replies."""
    outcomes: tuple[TestOutcome, ...]
    unused: tuple[str, ...] = ()
    """Keys of this judge's records that no test uses."""
    asked: int = 0
    """Number of live replies."""
    replies: Replies
    """The replies to the tests, replayed or live."""
    author: str | None = None
    """The person on the cassette whom the judge is compared with, if the judge is another one."""
    agreement: tuple[CriterionAgreement, ...] = ()
    """The agreement of the judge with that person."""
    trial: bool = False
    """Whether they are kept in the private store only."""
    removed: int = 0

    def count(self, verdict: str) -> int:
        """Return the number of tests with a verdict."""
        return sum(outcome.verdict == verdict for outcome in self.outcomes)

    @property
    def exit_code(self) -> int:
        """0 all passed, 1 a test failed, 3 a test was not judged (takes precedence over 1)."""
        if self.count("missed") or self.count("unjudged"):
            return 3
        return 1 if self.count("failed") else 0


def run_tests(rubric: Rubric, settings: RubricTestSettings = RubricTestSettings()) -> RubricTestRun:  # noqa: B008 - immutable
    """Run all tests of a rubric. By default, only replay recorded replies.

    Raises:
        ConfigError: the rubric has no tests, or the judge is ambiguous.
        CassetteCorrupt: the cassette is damaged.
        JudgeRejected: the judge refuses requests like these.
    """
    if not rubric.tests:
        raise ConfigError("has no tests; write some under `tests:`", where=str(rubric.path))
    path = tape_of(rubric.path, folder=settings.cassettes)
    asking = settings.record is not RecordMode.NONE
    if path.exists() and tape_generation(path) != newest():
        # A rubric that extends a built-in one keeps its recordings: it extends the version of them.
        with of_generation(tape_generation(path)):
            rubric = rubric.remade(rubric.path)
    judge = _judge(settings, path, asking=asking)
    store = store_opener(path.parent) if asking else None
    recorded = path.exists()
    limited = LimitedJudge(judge)
    # Records of a second judge would make plain tests ambiguous.
    known = {one.model for one in judges_on(path)} if settings.trial and recorded else set()
    trial = bool(known) and judge.model not in known
    with Cassette(
        limited, tape=path, store=store, record=settings.record, keeps_tape=trial
    ) as cassette:
        results = _results(rubric, cassette)
        gone = cassette.not_from_tape | {miss.request.key for miss in cassette.misses}
        unused = set(cassette.unused_keys()) - gone
    author = _author(path, judge)
    authored = {} if author is None else _replayed(rubric, author, path)
    pairs = [JudgedTwice(results[name], other) for name, other in authored.items()]
    outcomes = [check_test(test, results[test.name]) for test in rubric.tests]
    outcomes += [check_ordering(ordering, results) for ordering in rubric.orderings]
    own = _keys_of(path, judge, unused)
    missing = any(outcome.verdict in ("missed", "unjudged") for outcome in outcomes)
    removed = 0
    if settings.prune and own and not missing:
        remove_records(path, own)
        removed, own = len(own), []
    return RubricTestRun(
        rubric=rubric.name,
        file=str(rubric.path),
        cassette=str(path),
        recorded=recorded or path.exists(),
        judge=judge.model,
        by_hand=kind_of(judge.model).person,
        outcomes=tuple(outcomes),
        unused=tuple(own),
        asked=cassette.ledger.origins["live"],
        replies=count_replies(results),
        author=None if author is None else author.model,
        agreement=criterion_agreement(pairs),
        trial=trial,
        removed=removed,
    )


def _results(rubric: Rubric, cassette: Cassette) -> dict[str, Result]:
    results: dict[str, Result] = {}
    alike: dict[str, list[RubricTest]] = {}
    for test in rubric.tests:
        same = canonical_json([test.mode, test.parameters, test.own_criteria])
        alike.setdefault(same, []).append(test)
    for tests in alike.values():
        mode, parameters = tests[0].mode, tests[0].parameters
        metric: Metric
        if own := tests[0].own_criteria:
            metric = metric_of(rubric, tests, judge=cassette)
        else:
            metric = RubricMetric(rubric, judge=cassette, mode=mode, parameters=parameters)
        report = evaluate_sync([_asked_case(test) for test in tests], [metric])
        for scored in report.results:
            result = scored.rows[0].result
            results[scored.case.id] = as_asked(scored.case, result) if own else result
    return results


def _author(path: Path, judge: Judge) -> AbsentJudge | None:
    """Return the person on a cassette, if the verdicts to test are of another judge."""
    people = [one for one in judges_on(path) if kind_of(one.model).person]
    only = people[0] if len(people) == 1 else None
    return None if only is None or only.model == judge.model else only


def _replayed(rubric: Rubric, judge: Judge, path: Path) -> dict[str, Result]:
    with Cassette(judge, tape=path) as cassette:
        return _results(rubric, cassette)


def _asked_case(test: RubricTest) -> Case:
    """Return the case of a test as the metric gets it.

    In tests of rubrics, an empty answer that must be refused means a missing one: the tests of all
    built-in rubrics say so, and frozen files cannot change.
    """
    whole = test.expect.get(WHOLE)
    refused = whole is not None and whole.status == "invalid_case"
    if refused and not has_text(test.case.output):
        return test.case.model_copy(update={"output": None})
    return test.case


# -- the judge ----------------------------------------------------------------------


def judges_on(path: Path) -> list[AbsentJudge]:
    """Return the judges on a cassette, ordered by name."""
    with closing(Tape(path)) as tape:
        requests = (record.request for record in tape.records())
        judges = [
            AbsentJudge(
                r.model,
                JudgeSettings(
                    identity=judge_identity(r),
                    params=dict(r.params),
                    mode=r.mode,
                    api=r.form.api,
                    max_reason=r.form.max_reason,
                ),
            )
            for r in requests
        ]
    by_name: dict[str, AbsentJudge] = {}
    for judge in sorted(judges, key=lambda judge: len(judge.settings.params)):
        # Records of older keys have parameters that are not part of newer ones: the same judge.
        params = keyed_params(judge.model, judge.settings.params)
        by_name[canonical_json({**judge.described(), "params": params})] = judge
    return [by_name[name] for name in sorted(by_name)]


def _judge(settings: RubricTestSettings, path: Path, *, asking: bool) -> Judge:
    chosen, recorded = settings.judge, judges_on(path)
    if chosen is None:
        if len(recorded) > 1:
            names = ", ".join(judge.words() for judge in recorded)
            raise ConfigError(f"recorded by {names}; name one: --judge MODEL", where=str(path))
        if not asking:
            return recorded[0] if recorded else AbsentJudge(UNKNOWN)
        if not recorded:
            raise ConfigError("nothing is recorded yet; add --judge MODEL")
        chosen = JudgeFile.model_validate(recorded[0].described())
    elif not asking:
        known = [judge for judge in recorded if judge.model == chosen.model]
        if len(known) == 1 and not chosen.params and chosen.identity is None:
            return known[0]
    if asks_in_terminal(chosen, asking=asking):
        raise ConfigError(f"{chosen.model} is a person; add their answers: --answers FILE")
    return make_judge(chosen, base=Path(), lines=Lines(file=""), asking=asking)


def _keys_of(path: Path, judge: Judge, keys: set[str]) -> list[str]:
    """Return the keys of the requests to a judge's model on a cassette."""
    if not keys:
        return []
    with closing(Tape(path)) as tape:
        by_model = (r.key for r in tape.records() if r.request.model == judge.model)
        return [key for key in by_model if key in keys]
