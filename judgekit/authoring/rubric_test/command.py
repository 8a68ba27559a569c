"""Run the tests of rubrics and print the outcome, for `judgekit rubric test`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judgekit.authoring.rubric_test.place import find_tested
from judgekit.authoring.rubric_test.run import RubricTestRun, RubricTestSettings, run_tests
from judgekit.authoring.rubric_test.text import record_hint, tested_text
from judgekit.cassette.mode import RecordMode
from judgekit.core.errors import ConfigError
from judgekit.suite.file import JudgeFile, Overrides


def tests_outcome(
    sources: Sequence[str],
    chosen: Overrides,
    *,
    answers: str | None,
    cassettes: Path | None,
    prune: bool,
    as_json: bool,
) -> tuple[str, int]:
    """Return the outcome of the tests of rubrics as text, and the exit code.

    Raises:
        ConfigError: a rubric or flag is wrong, or there is nothing to test.
    """
    settings = RubricTestSettings(
        judge=_judge(chosen, answers=answers),
        record=_record(chosen),
        cassettes=cassettes,
        prune=prune,
    )
    rubrics = find_tested(sources)
    if cassettes is not None and len({r.path.stem for r in rubrics}) < len(rubrics):
        raise ConfigError(
            f"--cassettes {cassettes}: two rubrics have the same file name; rename one"
        )
    tested = [run_tests(rubric, settings) for rubric in rubrics]
    code = 3 if any(t.exit_code == 3 for t in tested) else max(t.exit_code for t in tested)
    return (_as_json(tested) if as_json else tested_text(tested)), code


def _record(chosen: Overrides) -> RecordMode:
    if chosen.record is not None:
        return RecordMode.parse(chosen.record)
    # Naming a judge on the command line allows calls.
    return RecordMode.NEW_EPISODES if chosen.judge is not None else RecordMode.NONE


def _judge(chosen: Overrides, *, answers: str | None) -> JudgeFile | None:
    if chosen.judge is None:
        for flag, value in (
            ("--answers", answers), ("--api-base", chosen.api_base), ("--param", chosen.params)
        ):  # fmt: skip
            if value:
                raise ConfigError(f"{flag} needs a judge; add --judge MODEL")
        return None
    if chosen.judge == "none":
        raise ConfigError("--judge none: a replay calls no judge anyway; leave it out")
    return JudgeFile.model_validate(
        {
            "model": chosen.judge,
            "api_base": chosen.api_base,
            "params": chosen.params,
            "answers": answers,
        }
    )


def _as_json(tested: Sequence[RubricTestRun]) -> str:
    verdicts = ("passed", "failed", "missed", "unjudged")
    data: dict[str, Any] = {verdict: sum(t.count(verdict) for t in tested) for verdict in verdicts}
    data["rubrics"] = [
        {
            **one.model_dump(mode="json"),
            "record_with": record_hint(one) if one.count("missed") else None,
        }
        for one in tested
    ]
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"
