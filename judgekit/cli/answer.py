"""`judgekit answer`: call the system under test and write its answers into the cases."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from judgekit.cli.options import named_values
from judgekit.core.canonical import printable
from judgekit.core.errors import ConfigError

if TYPE_CHECKING:
    from judgekit.cassette.cassette import Cassette as OpenCassette
    from judgekit.core.case import Case
    from judgekit.judges.steering_vector import Steering
    from judgekit.suite.answering import Answered, Answers

KEPT = "the answers so far are kept"
SHOWN = 10
"""Failures that are printed one by one; each written row has its own."""


def answer(
    cases: str,
    model: str,
    out: Path | None = None,
    field: str = "output",
    system: str | None = None,
    system_file: Path | None = None,
    max_tokens: int = 256,
    temperature: float = 0.0,
    top_p: float = 1.0,
    param: list[str] | None = None,
    limit: int | None = None,
    replace: bool = False,
    api_base: str | None = None,
    api_key_env: str | None = None,
    identity: str | None = None,
    cassette: Path | None = None,
    record: str | None = None,
    redact: list[str] | None = None,
    concurrency: int = 8,
    steering_vector: Path | None = None,
    layer: int | None = None,
    strength: float = 1.0,
    quiet: bool = False,
) -> None:
    """Call the system under test for the answers to score.

    Fill in `output`, or `baseline` to compare with. Keep cases that have the field. Every answer
    is stored when it arrives, so the same command continues an interrupted one; with --record
    none it replays and makes no call. --steering-vector fills in both: `output` steered,
    `baseline` not.

    Exit codes: 0 all answered, 2 the setup is wrong, 3 some cases have no answer.
    """
    import asyncio

    from judgekit.cli.interrupt import on_interrupt
    from judgekit.datasets import load_cases
    from judgekit.datasets.write import write_cases
    from judgekit.judges.local import PREFIX
    from judgekit.suite import answering
    from judgekit.suite.steering import answer_twice

    steering = _steering(steering_vector, layer, strength, field=field)
    if steering is not None:
        model = PREFIX + model.removeprefix(PREFIX)
    _check_out(cases, out, limit=limit, cassette=cassette)
    prompt = _system_prompt(system, system_file)
    rows = iter(load_cases(cases, limit=limit))
    first = next(rows, None)
    if first is not None:
        rows = chain([first], rows)
        _keep_other_files(out, first, cases)
    counts = _Counts(shown=not quiet and out is not None)
    params = {"max_tokens": max_tokens, "temperature": temperature, "top_p": top_p}
    system_under_test = answering.open_system(
        model,
        api_base=api_base,
        api_key_env=api_key_env,
        identity=identity,
        params={**params, **named_values("--param", param)},
        cassette=cassette,
        record=record or "new_episodes",
        redact=redact or [],
        concurrency=concurrency,
    )

    async def work() -> Answers:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        with on_interrupt(lambda: loop.call_soon_threadsafe(stop.set), kept=KEPT):
            options: dict[str, Any] = {
                "system": prompt,
                "replace": replace,
                "window": 4 * concurrency,
                "out": out,
                "progress": counts,
                "stop": stop,
            }
            if steering is not None:
                return await answer_twice(rows, system_under_test, steering, **options)
            field_: Any = field  # checked there
            return await answering.answer(rows, system_under_test, field=field_, **options)

    try:
        answers = asyncio.run(work())
    finally:
        counts.clear()
        system_under_test.close()
    if out is None:
        write_cases(answers.cases, None)
    _print_outcome(answers, system_under_test, field=field, out=out)
    raise typer.Exit(answers.exit_code)


def _steering(
    vector: Path | None, layer: int | None, strength: float, *, field: str
) -> Steering | None:
    from judgekit.judges.steering_vector import read_steering

    if vector is None:
        if layer is not None or strength != 1:
            raise ConfigError("--layer and --strength steer; add --steering-vector FILE")
        return None
    if layer is None:
        raise ConfigError("--steering-vector needs --layer N, the layer it was trained on")
    if field != "output":
        raise ConfigError("--steering-vector fills in output and baseline; remove --field")
    return read_steering(vector, layer=layer, strength=strength)


def _check_out(source: str, out: Path | None, *, limit: int | None, cassette: Path | None) -> None:
    if out is None:
        return
    if out.is_dir():
        raise ConfigError(f"--out {out}: is a folder; name a file")
    if cassette is not None and out.resolve() == cassette.resolve():
        raise ConfigError(f"--out {out}: is the cassette; name another file for the answers")
    if limit is not None and source != "-" and out.resolve() == Path(source).resolve():
        raise ConfigError(
            f"--out {out}: --limit would remove the cases after it; name another file"
        )


def _keep_other_files(out: Path | None, first: Case, source: str) -> None:
    """Refuse to replace a file that does not contain these cases."""
    from judgekit.core.case import Case
    from judgekit.core.output_file import refuse_foreign

    if out is None or (source != "-" and out.resolve() == Path(source).resolve()):
        return
    begin = Case(id=first.id).model_dump_json(exclude_defaults=True).removesuffix("}").encode()
    refuse_foreign(out, lambda head: head.startswith(begin), what="a file of these cases")


def _system_prompt(text: str | None, file: Path | None) -> str | None:
    from judgekit.core.input_file import MAX_PLAIN, read_text

    if file is None:
        return text
    if text is not None:
        raise ConfigError("give --system or --system-file, not both")
    try:
        prompt = read_text(file, most=MAX_PLAIN).strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(
            f"--system-file {file}: cannot be read: {exc}; name a UTF-8 text file"
        ) from exc
    if not prompt:
        raise ConfigError(f"--system-file {file}: is empty; for no system prompt: --system ''")
    return prompt


class _Counts:
    """Shows on the terminal how many cases have each state."""

    def __init__(self, *, shown: bool) -> None:
        from collections import Counter

        from judgekit.cli.screen import StatusLine

        self._states: Counter[str] = Counter()
        self._line = StatusLine(shown=shown)
        self.clear = self._line.clear

    def __call__(self, row: Answered) -> None:
        self._states[row.state] += 1
        if self._line.due():
            self._line.show(", ".join(f"{n} {state}" for state, n in self._states.items()))


def _print_outcome(
    answers: Answers, cassette: OpenCassette, *, field: str, out: Path | None
) -> None:
    """Print the outcome to standard error: standard output may be the cases."""
    states, ledger = answers.states, cassette.ledger
    words = {"live": "live", "tape": "from the tape", "store": "from the store"}
    origins = ", ".join(f"{n} {word}" for key, word in words.items() if (n := ledger.origins[key]))
    parts = [f"{states['answered']} answered" + (f" ({origins})" if origins else "")]
    if states["kept"]:
        parts.append(f"{states['kept']} already had an {field} (--replace answers them again)")
    if states["failed"]:
        parts.append(f"{states['failed']} without an answer")
    place = printable(str(out)) if out is not None else "standard output"
    lines = [f"{'; '.join(parts)}; written to {place}"]
    if answers.cut_off:
        lines.append(f"{answers.cut_off} of them were cut off by --max-tokens")
    if cassette.added and cassette.path is not None:
        lines.append(f"{cassette.added} new on {cassette.path}; commit it")
    failures = list(answers.failures.items())
    lines += [f"  {case}: {f.kind}: {f.message}" for case, f in failures[:SHOWN]]
    if len(failures) > SHOWN:
        lines.append(f"  and {len(failures) - SHOWN} more; each row has its failure in metadata")
    if ledger.missed:
        lines.append("To record what is missing: --record new_episodes")
    lines += [f"judgekit: {note}" for note in cassette.notes]
    if not states.total():
        lines.append("the file has no cases")
    print("\n".join(printable(line) for line in lines), file=sys.stderr)
