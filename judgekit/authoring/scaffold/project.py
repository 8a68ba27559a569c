"""Create a new project: a suite, a rubric, cases and a cassette that run offline."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Any, Literal, NamedTuple

from judgekit.authoring.schemas import small_schema_text
from judgekit.cassette.record import encode
from judgekit.cassette.tape import laid_out
from judgekit.core.canonical import canonical_json
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.example_model import EXAMPLE_MODEL
from judgekit.core.generation import newest
from judgekit.core.input_file import Unreadable, read_bytes
from judgekit.core.judgment import read_answers
from judgekit.core.output_file import LINK, beside, is_link
from judgekit.core.request import Reply, Request, Try
from judgekit.core.suggest import suggest
from judgekit.datasets import load_cases
from judgekit.judges.absent import AbsentJudge
from judgekit.judges.kinds import MANUAL, kind_of
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.library import newest_base
from judgekit.rubric.load import rubric_of_text
from judgekit.rubric.rubric import Rubric

FILES = Path(__file__).with_name("files")
MODEL = f"{MANUAL.prefix}template"
"""The judge of the template, its author."""
SCHEMAS = ".schemas"
AGENTS = "AGENTS.md"
"""What coding agents read about a repository."""
_MOST_NOTES = 8 * 2**20
_RECORDING = re.compile(r"--plan|--record|cassette")

HOSTS = {"github": ".github/workflows/judgekit.yml", "gitlab": ".gitlab-ci.yml"}
"""Code host -> path in the repository of the file that checks pull requests."""

_RUBRIC = "helpful_reply"


class ProjectPlan(NamedTuple):
    """The settings of a new project."""

    name: str
    judge: str | None = None
    """Model in comments and hints; `none` for a suite without a judge."""
    api_base: str | None = None
    ci: str | None = None
    """Code host that checks pull requests, `github` or `gitlab`."""
    criteria: Literal["rubric", "case"] = "rubric"
    """Where the criteria are: in a rubric for all cases, or with each case."""


def write_project(folder: Path, plan: ProjectPlan, *, force: bool = False) -> list[Path]:
    """Write a project; return the files.

    An existing `.gitignore` gets the lines that are missing, and an existing `AGENTS.md` the block
    for coding agents, in the place of an older one.

    Raises:
        ConfigError: a file exists, or one cannot be written.
    """
    files = project_files(plan)
    del files[".gitignore"]
    _check_ignore(folder)
    del files[AGENTS]
    judged = plan.judge != "none"
    agents_text(folder, judged=judged)  # a file that cannot be changed stops before any is written
    paths = write_all(folder, files, force=force)
    return [*paths, write_agents(folder, judged=judged), ignore_runs(folder)]


def write_agents(folder: Path, *, judged: bool) -> Path:
    """Write `AGENTS.md`, or put the block for coding agents into it; return it.

    Raises:
        ConfigError: see `with_block`.
    """
    write_all(folder, {AGENTS: agents_text(folder, judged=judged)}, force=True)
    return folder / AGENTS


def agents_text(folder: Path, *, judged: bool) -> str:
    """Return `AGENTS.md` of a folder with the block for coding agents.

    Raises:
        ConfigError: see `with_block`.
    """
    path = folder / AGENTS
    return (
        with_block(path, _agents(judged=judged))
        if os.path.lexists(path)
        else _agents(judged=judged)
    )


def _check_ignore(folder: Path) -> Path:
    path = folder / ".gitignore"
    if is_link(path):
        raise ConfigError(LINK, where=str(path))
    return path


def ignore_runs(folder: Path) -> Path:
    """Write `.gitignore`, or add the lines that it lacks; return it.

    Raises:
        ConfigError: it is a link, or cannot be written.
    """
    path = _check_ignore(folder)
    if path.is_file():
        _add_lines(path, _read("gitignore.txt"))
    else:
        write_all(folder, {path.name: _read("gitignore.txt")})
    return path


def with_block(path: Path, block: str) -> str:
    """Return the text of a file with a block: in the place of an older one, or at the end.

    Raises:
        ConfigError: it is a link, no text in UTF-8, or has the begin of a block without its end.
    """
    if is_link(path):
        raise ConfigError(LINK, where=str(path))
    try:
        text = read_bytes(path, most=_MOST_NOTES).decode()
    except (OSError, Unreadable, UnicodeDecodeError) as exc:
        raise ConfigError("cannot be read as text in UTF-8; move it", where=str(path)) from exc
    begin, *_, end = block.splitlines()
    if "\r\n" in text:
        block = block.replace("\n", "\r\n")
    before, found, rest = text.partition(begin)
    if found:
        _, closed, after = rest.partition(end)
        if not closed:
            raise ConfigError(f"has {begin!r} without {end!r}; remove the line", where=str(path))
        return before + block.rstrip() + after
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = newline * (2 - text.endswith("\n")) if text else ""
    return text + gap + block


def _add_lines(path: Path, ignored: str) -> None:
    """Add the missing lines of a file, with a comment."""
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        present = {line.strip().rstrip("/") for line in text.splitlines()}
        note, *lines = ignored.splitlines()
        missing = [line for line in lines if line.rstrip("/") not in present]
        if missing:
            gap = "" if text.endswith("\n") or not text else "\n"
            added = gap + "".join(f"{line}\n" for line in (note, *missing))
            with path.open("a", encoding="utf-8", newline="") as file:
                file.write(added)
    except OSError as exc:
        raise ConfigError(f"cannot be written: {exc.strerror}", where=str(path)) from exc


def project_files(plan: ProjectPlan) -> dict[str, str]:
    """Return the files of a project: name -> text. The same plan gives the same texts.

    Raises:
        ConfigError: the plan has an address without a model, or an unknown code host.
    """
    check_judge(plan)
    judged, own = plan.judge != "none", plan.criteria == "case"
    if own and not judged:
        raise ConfigError("--criteria case: needs a judge for the criteria; leave out --judge none")
    prefix = "case_criteria_" if own else ""
    suite = _read(f"{prefix}suite.yaml" if judged else "suite_without_judge.yaml")
    suite = suite.replace("@OWN@", _own_judge(plan)).replace("@NAME@", scalar(plan.name))
    files = {"suite.yaml": suite, "cases.jsonl": _read(f"{prefix}cases.jsonl")}
    if own:
        files["cassettes/suite.jsonl"] = _tape_of_points(f"{prefix}cases.jsonl")
    elif judged:
        # The file of the package extends the first `base`, to be a valid rubric.
        frame = f"extends: {newest_base()} "
        text = _read(f"{_RUBRIC}.jinja").replace("extends: base ", frame, 1)
        files[f"rubrics/{_RUBRIC}.jinja"] = text
        rubric = rubric_of_text(text, path=FILES / f"{_RUBRIC}.jinja")
        cases = list(load_cases(FILES / "cases.jsonl"))
        files["cassettes/suite.jsonl"] = _tape(rubric, cases, "verdicts.jsonl")
        tests = [test.case for test in rubric.tests]
        files[f"cassettes/rubrics/{_RUBRIC}.jsonl"] = _tape(rubric, tests, "test_verdicts.jsonl")
    if plan.ci is not None:
        check_host(plan.ci)
        head, _, rest = _read(f"{plan.ci}.yml").partition("@JUDGED@\n")
        steps, _, tail = rest.partition("@END@\n")
        tape, _, rubric_steps = steps.partition("@RUBRICS@\n")
        kept = (tape if judged else "") + (rubric_steps if judged and not own else "")
        files[HOSTS[plan.ci]] = head + kept + tail
    files[AGENTS] = _agents(judged=judged)
    files["test_suite.py"] = _read("test_suite.py.txt")
    files[".gitignore"] = _read("gitignore.txt")
    for kind in ("suite", "rubric", "cases"):
        files[f"{SCHEMAS}/{kind}.json"] = small_schema_text(kind)
    return files


def check_judge(plan: ProjectPlan) -> None:
    """Check that an address has a model.

    Raises:
        ConfigError: it has none.
    """
    if plan.api_base and (plan.judge is None or kind_of(plan.judge).person or plan.judge == "none"):
        raise ConfigError("--api-base is the address of a model; add its name: --judge openai/NAME")


def check_host(host: str) -> None:
    """Check that a code host is supported.

    Raises:
        ConfigError: it is not one of `HOSTS`.
    """
    if host not in HOSTS:
        raise ConfigError(f"--ci: unknown host {host!r}{suggest(host, HOSTS)}")


def misplaced(folder: Path, host: str) -> str | None:
    """Return a warning if the host would not find its file, which must be in the root folder."""
    folder = folder.resolve()
    root = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)
    if root is None or root == folder:
        return None
    problem = f"{host} reads {HOSTS[host]} only at the root of a repository, which is {root}"
    advice = "move the file there and set the folder in it, or make this folder a repository"
    return f"{problem}: {advice}"


def default_name(folder: Path) -> str:
    """Return the default name of a project: that of its folder."""
    return folder.resolve().name or "project"


def next_steps(folder: Path, plan: ProjectPlan) -> list[tuple[str, str]]:
    """Return the next commands and their purposes."""
    cd = "" if folder.resolve() == Path().resolve() else f"cd {quote(str(folder))} && "
    run = f"{cd}judgekit run suite.yaml"
    if plan.judge == "none":
        return [
            (run, "scores the cases, without a judge"),
            (f"{cd}judgekit metrics", "lists all metrics"),
            (f"{cd}judgekit rubric new", "writes a rubric for a judge"),
        ]
    judge = plan.judge or EXAMPLE_MODEL
    flags = f" --api-base {quote(plan.api_base)}" if plan.api_base else ""
    last = (f"{cd}judgekit rubric new", "writes a rubric of your own")
    if plan.criteria == "case":
        last = (f"{cd}judgekit cases criteria cases.jsonl", "lists the criteria of the cases")
    return [
        (run, "replays the recorded replies, offline"),
        (f"{run} --judge {quote(judge)}{flags}", _purpose(judge, plan.api_base)),
        last,
    ]


def _purpose(judge: str, api_base: str | None) -> str:
    if kind_of(judge).person:
        return "lets a person judge"
    provider = judge.partition("/")[0]
    if api_base is None and provider in _PROVIDERS:
        return f"calls your judge, with the key in {provider.upper()}_API_KEY"
    return "calls your judge"


_PROVIDERS = ("openai", "anthropic", "gemini", "mistral", "groq", "openrouter")
"""Common providers, only for a hint about their keys."""


def _own_judge(plan: ProjectPlan) -> str:
    settings = f"model: {scalar(plan.judge or EXAMPLE_MODEL)}"
    if plan.api_base:
        settings += f", api_base: {scalar(plan.api_base)}"
    return f"Put your own judge here instead:\n# judge: {{{settings}}}"


def _agents(*, judged: bool) -> str:
    """Return the block for coding agents; a suite without a judge has nothing to record."""
    lines = _read("agents.txt").splitlines(keepends=True)
    return "".join(line for line in lines if judged or not _RECORDING.search(line))


def _read(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


def _tape(rubric: Rubric, cases: Sequence[Case], verdicts: str) -> str:
    """Return a cassette: the verdicts of the template on the requests of this version."""
    metric = RubricMetric(rubric, judge=AbsentJudge(MODEL))
    asked = {case.id: metric.requests(case)[1][0] for case in cases}
    return _tape_text(asked, _answers(verdicts))


def _tape_of_points(cases: str) -> str:
    """Return a cassette of the cases with criteria themselves, with one request each."""
    from judgekit.judges.fake import FakeJudge
    from judgekit.metrics.safety_and_quality.points import Points
    from judgekit.runner.evaluation import evaluate_sync

    answers = _answers("case_criteria_verdicts.jsonl")
    judge = FakeJudge(lambda request: answers[_case_of(request)], model=MODEL)
    evaluate_sync(load_cases(FILES / cases), [Points(judge=judge, calls="all")])
    return _tape_text({_case_of(request): request for request in judge.asked}, answers)


def _case_of(request: Request) -> str:
    """Return the id of the case, without the numbers of the criteria."""
    return request.about.case.partition("/")[0]


def _answers(verdicts: str) -> dict[str, Any]:
    """Return case -> its answers, from a file of the template."""
    entries = map(json.loads, _read(verdicts).splitlines())
    return {entry["case"]: entry["answers"] for entry in entries}


def _tape_text(asked: Mapping[str, Request], answers_of: Mapping[str, Any]) -> str:
    lines: list[str] = []
    parts: dict[str, str] = {}
    for case, request in asked.items():
        answers = answers_of[case]
        read_answers(answers, form=request.form)
        last = Try(text=canonical_json(answers), finish="stop")
        reply = Reply(tries=(last,), model=MODEL, cost=0.0)
        _, line, named = encode(request, reply)
        lines.append(line)
        parts.update(named)
    ordered = sorted(lines, key=lambda line: line[8:72])
    return "".join(f"{line}\n" for line in laid_out(parts, ordered, generation=newest()))


def write_all(folder: Path, files: Mapping[str, str], *, force: bool = False) -> list[Path]:
    """Write files into a folder, which is created if missing; return their paths.

    All texts are written to temporary files before the first one is renamed, so a full disk or
    Ctrl-C does not leave a partial project.

    Args:
        folder: parent of the files.
        files: name (with `/`) -> text.
        force: replace existing files.

    Raises:
        ConfigError: a file exists, or one cannot be written.
    """
    paths = [folder / name for name in files]
    for path in paths:
        _check(path, inside=folder, force=force)
    created: list[Path] = []
    written: list[Path] = []
    try:
        for path, text in zip(paths, files.values(), strict=True):
            missing = [place for place in path.parents if not place.exists()]
            for place in reversed(missing):
                place.mkdir(exist_ok=True)
                created.append(place)
            new = beside(path, writer=os.getpid())
            # "x": never through an existing link.
            with new.open("x", encoding="utf-8", newline="\n") as file:
                written.append(new)
                file.write(text)
        for path, new in zip(paths, list(written), strict=True):
            new.replace(path)
            written.remove(new)
    except BaseException as exc:
        for path in written:
            path.unlink(missing_ok=True)
        for empty in reversed(created):
            with suppress(OSError):  # another program has written a file there
                empty.rmdir()
        if isinstance(exc, OSError):
            where = str(exc.filename or folder)
            raise ConfigError(f"cannot be written: {exc.strerror}", where=where) from exc
        raise
    return paths


def _check(path: Path, *, inside: Path, force: bool) -> None:
    for above in (*reversed(path.relative_to(inside).parents), Path()):
        place = inside / above
        if os.path.lexists(place) and not place.is_dir():
            message = "this is a file, and a folder is needed here; move it"
            raise ConfigError(message, where=str(place))
    if path.is_dir():
        raise ConfigError("this is a folder, and a file is needed here; move it", where=str(path))
    if os.path.lexists(path) and not force:
        message = "this file exists; move it, name another folder, or add --force to replace it"
        raise ConfigError(message, where=str(path))


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
# Words that YAML does not parse as text.
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"}
# Characters, in addition to those that JSON escapes, that YAML forbids or editors show badly.
_ESCAPED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]"
)
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_HALF = re.compile("[\ud800-\udfff]")


def scalar(text: str) -> str:
    """Return a text as a YAML scalar on one line, quoted unless it is a plain word."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    text = _HALF.sub("\ufffd", text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    letter = match.group()
    return _NAMED.get(letter) or f"\\u{ord(letter):04x}"


def listed(texts: Iterable[str]) -> str:
    """Return texts as a YAML list on one line."""
    return f"[{', '.join(scalar(text) for text in texts)}]"
