"""Examine the installation, a suite and its judges.

Judges are called only with permission, and values of keys are never printed.
"""

from __future__ import annotations

import asyncio
import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import judgekit
from judgekit.cassette.store import Store, store_folder
from judgekit.core.errors import CaseError, ConfigError, InvalidReply, JudgekitError, JudgeRefused
from judgekit.core.judge_wrapper import RequestBuilder, as_judge
from judgekit.core.judgment import read_reply
from judgekit.core.request import About, ChatMessage, Form, Question, Reply, Request
from judgekit.core.yaml_file import Lines
from judgekit.judges.connections import closing_connections
from judgekit.judges.kinds import kind_of, misnamed_kinds
from judgekit.report.manifest import mapping
from judgekit.suite.doctor.installation import broken_offers, installed, is_key
from judgekit.suite.doctor.text import Diagnosis, Role
from judgekit.suite.doctor.versions import versions_of
from judgekit.suite.estimate import plan_run
from judgekit.suite.judge_file import JUDGE, JudgeFile
from judgekit.suite.judges import make_judge
from judgekit.suite.measured import MeasuredSpeed
from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import resolve
from judgekit.suite.retirement import retirement_of, today

FORM = Form(questions=(Question(id="prime", kind="boolean", text="Is the number a prime?"),))
_SYSTEM = "You check statements. Keep every reason to one short sentence."
_QUESTION = "The number is 91. Criterion `prime`: is the number a prime?"


def examine(
    path: Path | None = None,
    overrides: Overrides | None = None,
    *,
    ask: bool = False,
    times: int = 3,
    say: Callable[[str], None] = lambda line: None,
) -> Diagnosis:
    """Examine the installation, and a suite and its judges if one is given.

    Args:
        path: the suite.
        overrides: flags; they may name a judge even without a suite.
        ask: whether to call each judge, with a probe and then a small question.
        times: how many times to ask the small question.
        say: called with a progress message.
    """
    overrides = overrides or Overrides()
    packages, extras, problems = installed()
    problems += [*misnamed_kinds(), *broken_offers()]
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
        raise ConfigError("no judge to ask; name a suite with a judge, or add --judge MODEL")
    for role, file in files.items():
        if ask and kind_of(file.model).metered:
            say(f"asking {role}, {file.model}")
        roles.append(_role(role, file, base=base, ask=ask, times=times))
    problems += [f"{role.role} {role.problem}" for role in roles if role.problem]
    return Diagnosis(
        release=judgekit.__version__,
        python=platform.python_version(),
        system=platform.system(),
        packages=packages,
        extras=extras,
        keys=tuple(sorted(name for name, value in os.environ.items() if is_key(name, value))),
        store=str(store_folder(base)),
        suite=None if path is None else str(path),
        roles=tuple(roles),
        asked=ask,
        problems=tuple(problems),
        **facts,
    )


def _suite(path: Path, overrides: Overrides) -> tuple[dict[str, Any], dict[str, JudgeFile]]:
    """Replay a suite; return the facts about it, and its judges."""
    suite = resolve(path, overrides)
    facts: dict[str, Any] = {"problems": [], "versions": versions_of(suite, path)}
    for metric in suite.metrics:
        if mapping((metric.info().made_with or {}).get("calibration")).get("older_than_persona"):
            problem = "its calibration is older than the persona; run judgekit persona calibrate"
            facts["problems"].append(f"{metric.name}: {problem}")
    if any(metric.rubrics for metric in suite.metrics):
        from judgekit.metrics.shown_fields import hidden_answers

        facts["problems"] += hidden_answers(suite.metrics)
    try:
        plan = plan_run(suite)
        facts["cases"] = plan.cases
        facts["missing"] = plan.missing
        facts["further"] = plan.further if plan.missing else ()
    except JudgekitError as exc:
        facts["problems"].append(_line(exc))
    return facts, dict(suite.roles)


def _role(role: str, file: JudgeFile, *, base: Path, ask: bool, times: int) -> Role:
    from judgekit.judges.endpoint import address, variable_shown

    name = file.api_key_env
    retirement = retirement_of(file, on=today())
    facts: dict[str, Any] = {
        "role": role,
        "model": file.model,
        "address": address(file.api_base),
        "max_reason": file.max_reason,
        "retires": None if retirement is None else retirement.sentence,
        "key": name and f"{variable_shown(name)} ({'set' if os.environ.get(name) else 'not set'})",
    }
    if not kind_of(file.model).metered:
        return Role(**facts)
    from judgekit.judges.litellm import LiteLLMJudge
    from judgekit.judges.server_judge import ServerJudge

    # No retries, to report an outage immediately; temperature 0, to compare the answers.
    params = file.params if file.api else {**file.params, "temperature": 0}
    quick = file.model_copy(update={"retries": 0, "params": params})
    try:
        judge: Any = as_judge(make_judge(quick, base=base, lines=Lines(file=""), asking=ask))
        if isinstance(judge, ServerJudge):
            facts["via"] = judge.via
        if ask:
            facts |= asyncio.run(_ask(judge, file, base, times))
        elif isinstance(judge, LiteLLMJudge):
            facts |= _known(judge, base)
    except JudgekitError as exc:
        line = _line(exc)
        facts["problem"] = line if file.model in line else f"{file.model}: {line}"
    return Role(**facts)


def _known(judge: Any, base: Path) -> dict[str, Any]:
    """Return the output mode of an earlier run, without creating a store."""
    if judge.settings.mode:
        return {"mode": judge.settings.mode, "mode_from": "suite"}
    if not store_folder(base).is_dir():
        return {}
    store = Store(store_folder(base))
    try:
        judge.negotiation.store = store
        mode = judge.negotiation.recall()
    finally:
        store.close()
    return {"mode": mode, "mode_from": "store", "steps": judge.negotiation.steps} if mode else {}


async def _ask(judge: Any, file: JudgeFile, base: Path, times: int) -> dict[str, Any]:
    store = Store(store_folder(base))
    knowledge = judge.knowledge
    if knowledge is not None:
        knowledge.keep_in(lambda: store, ignore_stored=True)
    messages = (
        ChatMessage(role="system", content=_SYSTEM),
        ChatMessage(role="user", content=_QUESTION),
    )
    request = RequestBuilder(judge).request(messages=messages, form=FORM, sample=0, about=About())
    try:
        async with closing_connections():
            replies: list[Reply] = [await judge.ask(request)]  # not timed: it imports and probes
            seconds = []
            for _ in range(times):
                started = time.perf_counter()
                replies.append(await judge.ask(request))
                seconds.append(time.perf_counter() - started)
            if knowledge is not None:
                await knowledge.identified(replies[-1])
            if seconds:
                speed = MeasuredSpeed(
                    seconds=max(median(seconds), 1e-6), tokens_out=_written(replies)
                )
                speed.keep(store, model=file.model, api_base=file.api_base)
    finally:
        store.close()
    names = ("mode", "mode_from", "steps", "dropped_params", "server", "system_in_user")
    findings = {} if knowledge is None else knowledge.findings()
    return {
        **{name: fact for name, fact in findings.items() if name in names},
        "asked": len(replies),
        "seconds": round(median(seconds), 3) if seconds else None,
        "repeats": len({reply.tries[-1].text for reply in replies}) == 1,
        "problem": _unusable(replies[-1], request),
    }


def _written(replies: Sequence[Reply]) -> float | None:
    """Return the mean number of tokens of a reply for one question, if the server reports it."""
    counts = [reply.usage.output_tokens for reply in replies if reply.usage is not None]
    tokens = sum(counts) / len(counts) / max(1, len(FORM.questions)) if counts else 0
    return tokens if tokens >= 1 else None


def _unusable(reply: Reply, request: Request) -> str | None:
    try:
        read_reply(reply, form=request.form, request_key="")
    except (InvalidReply, JudgeRefused, CaseError) as exc:
        return f"{request.model}: its reply is not a verdict: {_line(exc)}"
    return None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
