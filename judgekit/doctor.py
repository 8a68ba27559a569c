"""What a person should know of this installation, a suite and its judges before a run.

Nothing is asked of anyone unless that is allowed; values of keys are never looked at.
"""

from __future__ import annotations

import asyncio
import os
import platform
import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

from pydantic import Field

import judgekit
from judgekit.canonical import printable
from judgekit.config import load_suite
from judgekit.errors import ConfigError, InvalidReply, JudgekitError, JudgeRefused
from judgekit.estimate import missing_calls
from judgekit.evaluation import evaluate_sync
from judgekit.judgment import read_reply
from judgekit.providers import connections
from judgekit.request import ChatMessage, Form, Question, Reply, Request
from judgekit.suitefile import JUDGE, JudgeFile, Overrides
from judgekit.suitejudge import make_judge
from judgekit.value import Value
from judgekit.yamlfile import Lines

DISTRIBUTION = "judgekit-rubrics"
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(.*?)(?:;\s*(.*))?\Z", re.DOTALL)
_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w-]+)['"]""")
_KEY_NAME = re.compile(r"_API_KEY\Z")

FORM = Form(questions=(Question(id="prime", kind="boolean", text="Is the number a prime?"),))
_TOLD = "You check statements. Keep every reason to one short sentence."
_ASKED = "The number is 91. Criterion `prime`: is the number a prime?"


class Role(Value):
    """One judge: what is known of it, and what came of asking."""

    role: str
    model: str
    address: str | None = None
    key: str | None = None
    """Name of the environment variable the suite gives, and whether it is set."""
    mode: str | None = None
    """How it takes a form, if a suite, an earlier run or a probe said so."""
    mode_from: str | None = None
    steps: tuple[str, ...] = ()
    asked: int = 0
    """Answers it gave."""
    seconds: float | None = None
    """Median time of an answer."""
    repeats: bool | None = None
    """Whether it gave the same answer each time at temperature 0."""
    dropped_params: dict[str, str] = Field(default_factory=dict)
    server: str | None = None
    problem: str | None = None


class Cost(Value):
    """What the requests that are not recorded would take, of one model."""

    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float | None = None
    text: str


class Diagnosis(Value):
    """Everything that was found."""

    judgekit: str
    python: str
    system: str
    packages: dict[str, str | None] = Field(default_factory=dict)
    """Version by package judgekit needs; `None` where it is missing."""
    extras: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Packages that are missing, by extra; none means the extra is there."""
    keys: tuple[str, ...] = ()
    """Environment variables that hold keys: their names."""
    store: str = ""
    suite: str | None = None
    cases: int | None = None
    roles: tuple[Role, ...] = ()
    missing: tuple[Cost, ...] = ()
    asked: bool = False
    problems: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 where nothing is wrong, else 2."""
        return 2 if self.problems else 0


def examine(
    path: Path | None = None,
    overrides: Overrides | None = None,
    *,
    ask: bool = False,
    times: int = 3,
    say: Callable[[str], None] = lambda line: None,
) -> Diagnosis:
    """Look at the installation, and at a suite if one is named.

    Args:
        path: the suite.
        overrides: flags; a judge named there is looked at without a suite too.
        ask: whether each judge may be asked: a probe, then a small question a few times.
        times: how often the small question is put for its median time.
        say: told what is under way.
    """
    overrides = overrides or Overrides()
    packages, extras, problems = _installed()
    facts: dict[str, Any] = {}
    roles: list[Role] = []
    files: dict[str, JudgeFile] = {}
    base = path.parent if path is not None else Path()
    if path is not None:
        try:
            facts, files = _suite(path, overrides)
            problems += facts.pop("problems")
        except JudgekitError as exc:
            problems.append(_line(exc))
    elif overrides.judge is not None:
        files = {JUDGE: JudgeFile(model=overrides.judge, api_base=overrides.api_base)}
    if ask and not files and not problems:
        raise ConfigError("nobody to ask: name a suite that has a judge, or --judge MODEL")
    for role, file in files.items():
        if ask and _is_model(file):
            say(f"asking {role}, {file.model}")
        roles.append(_role(role, file, base=base, ask=ask, times=times))
    problems += [f"{role.role} {role.problem}" for role in roles if role.problem]
    from judgekit.store import store_folder

    return Diagnosis(
        judgekit=judgekit.__version__,
        python=platform.python_version(),
        system=platform.system(),
        packages=packages,
        extras=extras,
        keys=tuple(sorted(name for name, value in os.environ.items() if _is_key(name, value))),
        store=str(store_folder(base)),
        suite=None if path is None else str(path),
        roles=tuple(roles),
        asked=ask,
        problems=tuple(problems),
        **facts,
    )


# -- the installation -----------------------------------------------------------------


def _installed() -> tuple[dict[str, str | None], dict[str, tuple[str, ...]], list[str]]:
    """Return versions of what is needed, what extras lack, and what is wrong."""
    problems = list(_namesakes())
    try:
        required = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return {}, {}, [f"{DISTRIBUTION} is not installed: pip install {DISTRIBUTION}", *problems]
    packages: dict[str, str | None] = {}
    extras: dict[str, tuple[str, ...]] = {}
    for requirement in required:
        match = _REQUIREMENT.match(requirement)
        if match is None:
            continue
        name, versions, marker = match.groups()
        version = _version(name)
        extra = _EXTRA.search(marker or "")
        if extra is not None:
            lacking = extras.get(extra.group(1), ())
            extras[extra.group(1)] = lacking if version else (*lacking, name)
            continue
        packages[name] = version
        if version is None:
            problems.append(f"{name} is missing: pip install {DISTRIBUTION}")
        elif version in re.findall(r"!=\s*([\w.]+)", versions):
            problems.append(f"{name} {version} is a release to keep away from; install another")
    return packages, extras, problems


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _namesakes() -> Iterator[str]:
    """Yield what else on this machine is called judgekit."""
    for name in sorted(set(metadata.packages_distributions().get("judgekit", ()))):
        if name.replace("_", "-").lower() != DISTRIBUTION:
            yield (
                f"another project, {name}, brings a package named judgekit: "
                f"pip uninstall {name}, then pip install --force-reinstall {DISTRIBUTION}"
            )
    ours = Path(judgekit.__file__).resolve().parent
    for entry in sys.path:
        other = (Path(entry or ".") / "judgekit").resolve()
        if other != ours and (other / "__init__.py").is_file():
            yield f"{other} is another package named judgekit; {ours} is the one in use"


def _is_key(name: str, value: str) -> bool:
    return bool(value) and _KEY_NAME.search(name) is not None


# -- a suite ----------------------------------------------------------------------------


def _suite(path: Path, overrides: Overrides) -> tuple[dict[str, Any], dict[str, JudgeFile]]:
    """Replay a suite, asking nobody; return what is known of it and who its judges are."""
    suite = load_suite(path, overrides.model_copy(update={"record": "none"}))
    facts: dict[str, Any] = {"problems": []}
    try:
        report = evaluate_sync(suite.cases(), suite.metrics)
        facts["cases"] = report.figures.cases
        facts["missing"] = tuple(
            Cost(**missing._asdict(), text=missing.text) for missing in missing_calls(suite)
        )
    except JudgekitError as exc:
        facts["problems"].append(_line(exc))
    finally:
        suite.close()
    return facts, dict(suite.roles)


# -- a judge ----------------------------------------------------------------------------


def _is_model(file: JudgeFile | Role) -> bool:
    return not file.model.startswith(("manual/", "fake/", "transformers/"))


def _role(role: str, file: JudgeFile, *, base: Path, ask: bool, times: int) -> Role:
    from judgekit.judges.endpoint import address

    name = file.api_key_env
    facts: dict[str, Any] = {
        "role": role,
        "model": file.model,
        "address": address(file.api_base),
        "key": name and f"{name} ({'set' if os.environ.get(name) else 'not set'})",
    }
    if not _is_model(file):
        return Role(**facts)
    # A judge that is down should say so at once, and the same question should be the same.
    params = {**file.params, "temperature": 0}
    quick = file.model_copy(update={"retries": 0, "params": params})
    try:
        judge: Any = make_judge(quick, base=base, lines=Lines(file=""), asking=ask)
        facts |= asyncio.run(_ask(judge, base, times)) if ask else _known(judge, base)
    except JudgekitError as exc:
        line = _line(exc)
        facts["problem"] = line if file.model in line else f"{file.model}: {line}"
    return Role(**facts)


def _known(judge: Any, base: Path) -> dict[str, Any]:
    """Return what an earlier run found out, without making a store."""
    from judgekit.store import Store, store_folder

    if judge.mode:
        return {"mode": judge.mode, "mode_from": "suite"}
    if not store_folder(base).is_dir():
        return {}
    store = Store(store_folder(base))
    try:
        judge.ladder.store = store
        mode = judge.ladder.recall()
    finally:
        store.close()
    return {"mode": mode, "mode_from": "store", "steps": judge.ladder.steps} if mode else {}


async def _ask(judge: Any, base: Path, times: int) -> dict[str, Any]:
    from judgekit.store import Store, store_folder

    store = Store(store_folder(base))
    judge.keep_in(lambda: store, anew=True)
    messages = (ChatMessage(role="system", content=_TOLD), ChatMessage(role="user", content=_ASKED))
    request = Request(messages=messages, form=FORM, model=judge.model)
    try:
        async with connections():
            replies: list[Reply] = [await judge.ask(request)]  # it imports and probes: not timed
            taken = []
            for _ in range(times):
                started = time.perf_counter()
                replies.append(await judge.ask(request))
                taken.append(time.perf_counter() - started)
    finally:
        store.close()
    found = judge.findings()
    said = {reply.tries[-1].text for reply in replies}
    return {
        "mode": found.get("mode"),
        "mode_from": found.get("mode_from"),
        "steps": tuple(found.get("steps", ())),
        "dropped_params": found.get("dropped_params", {}),
        "server": found.get("server"),
        "asked": len(replies),
        "seconds": round(median(taken), 3) if taken else None,
        "repeats": len(said) == 1,
        "problem": _unusable(replies[-1], judge.model),
    }


def _unusable(reply: Reply, model: str) -> str | None:
    try:
        read_reply(reply, form=FORM, request_key="")
    except (InvalidReply, JudgeRefused) as exc:
        return f"{model}: answers, but not with a verdict: {_line(exc)}"
    return None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


# -- as text ----------------------------------------------------------------------------

_MARGIN = 12
_WAYS = {"probe": "just probed", "store": "as probed earlier", "suite": "set in the suite"}


def diagnosis_text(found: Diagnosis, *, width: int = 80) -> str:
    """Return a diagnosis for a terminal of some width."""
    lines: list[str] = []
    for name, text in (*_about_installation(found), *_about_suite(found)):
        head = f"{name:<{_MARGIN - 1}} "
        if len(name) >= _MARGIN:
            lines.append(name)
            head = " " * _MARGIN
        lines += textwrap.wrap(
            printable(head + text),
            width,
            subsequent_indent=" " * _MARGIN,
            break_long_words=True,
            break_on_hyphens=False,
        )
    return "\n".join(lines) + "\n"


def _about_installation(found: Diagnosis) -> Iterator[tuple[str, str]]:
    yield "judgekit", f"{found.judgekit}, Python {found.python} on {found.system}"
    packages = (f"{name} {version or 'MISSING'}" for name, version in found.packages.items())
    yield "packages", ", ".join(packages)
    there = [extra for extra, lacking in found.extras.items() if not lacking]
    yield "extras", ", ".join(there) or "none"
    for extra, lacking in found.extras.items():
        if lacking:
            yield "", f"without {extra} ({', '.join(lacking)}): {_install(extra)}"
    yield (
        "keys",
        f"{', '.join(found.keys)}; their values were not looked at"
        if found.keys
        else ("none in the environment"),
    )
    yield "store", found.store


def _install(extra: str) -> str:
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def _about_suite(found: Diagnosis) -> Iterator[tuple[str, str]]:
    if found.suite is not None:
        count = "" if found.cases is None else f", {found.cases:,} cases"
        yield "suite", f"{found.suite}{count}"
        costs = [f"{c.calls:,} calls to {c.model}, {c.text}" for c in found.missing]
        if found.cases is not None:
            yield "to ask", "; ".join(costs) or "nothing: all of it is recorded"
        if not found.roles:
            yield "judge", "none"
    for role in found.roles:
        name = role.role
        for line in _about_role(role):
            yield name, line
            name = ""
    if not found.asked and any(map(_is_model, found.roles)):
        yield "", "nobody was asked; --ask puts a few small questions to each judge"
    if not found.problems:
        yield "well", "nothing is wrong"
    for problem in found.problems:
        yield "WRONG", problem


def _about_role(role: Role) -> Iterator[str]:
    where = f" at {role.address}" if role.address else ""
    key = f", key {role.key}" if role.key else ""
    served = f", served as {role.server}" if role.server else ""
    yield f"{role.model}{where}{key}{served}"
    if role.mode is not None:
        yield f"asked by {role.mode} ({_WAYS.get(str(role.mode_from), 'fallen to in use')})"
    for step in role.steps:
        yield f"not by {step}"
    for name, reason in role.dropped_params.items():
        yield f"{name} not sent: {reason}"
    if role.asked:
        same = "the same each time" if role.repeats else "NOT the same each time"
        yield f"answered {role.asked} times, {same}, in {role.seconds:g} s (median)"
