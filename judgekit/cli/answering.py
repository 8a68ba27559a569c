"""Answering cases in a terminal: progress, Ctrl-C, what was left without an answer."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from judgekit.cassette.cassette import Cassette
from judgekit.cli.interrupt import on_interrupt
from judgekit.core.canonical import printable
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.input_file import MAX_PLAIN, read_text
from judgekit.core.output_file import refuse_foreign
from judgekit.datasets import load_cases
from judgekit.suite.answering import Answered, Answers, answer, open_system

KEPT = "what is answered is kept"
SHOWN = 10
"""Failures that are named one by one; each row says its own."""


def answer_and_print(
    source: str,
    *,
    model: str,
    out: Path | None,
    field: str,
    system: str | None,
    system_file: Path | None,
    limit: int | None,
    replace: bool,
    quiet: bool,
    window: int,
    settings: Mapping[str, Any],
) -> int:
    """Answer a file of cases, say what came of it, return the exit code."""
    _check_out(source, out, limit=limit, settings=settings)
    told = _system(system, system_file)
    cases = iter(load_cases(source, limit=limit))
    first = next(cases, None)
    if first is not None:
        cases = chain([first], cases)
        _spare_other_cases(out, first, source)
    meter = _Meter() if not quiet and out is not None and sys.stderr.isatty() else None
    opened = open_system(model, **settings)

    async def work() -> Answers:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        with on_interrupt(lambda: loop.call_soon_threadsafe(stop.set), said=KEPT):
            return await answer(
                cases,
                opened,
                field=field,  # type: ignore[arg-type]  # anything else is refused there
                system=told,
                replace=replace,
                window=window,
                out=out,
                progress=meter,
                stop=stop,
            )

    try:
        answers = asyncio.run(work())
    finally:
        if meter is not None:
            meter.clear()
        opened.close()
    if out is None:
        from judgekit.datasets.write import write_cases

        write_cases(answers.cases, None)
    _say(answers, opened, field=field, out=out)
    return answers.exit_code


def _check_out(
    source: str, out: Path | None, *, limit: int | None, settings: Mapping[str, Any]
) -> None:
    if out is None:
        return
    if out.is_dir():
        raise ConfigError(f"--out {out}: is a folder; name a file")
    tape = settings["cassette"]
    if tape is not None and out.resolve() == tape.resolve():
        raise ConfigError(f"--out {out}: is the cassette; answers and tape are two files")
    if limit is not None and source != "-" and out.resolve() == Path(source).resolve():
        raise ConfigError(f"--limit with --out {out} would lose the cases after it; name another")


def _spare_other_cases(out: Path | None, first: Case, source: str) -> None:
    """Refuse to write over a file that holds anything but these cases."""
    if out is None or (source != "-" and out.resolve() == Path(source).resolve()):
        return
    begin = Case(id=first.id).model_dump_json(exclude_defaults=True).removesuffix("}").encode()
    refuse_foreign(out, lambda head: head.startswith(begin), what="a file of these cases")


def _system(text: str | None, file: Path | None) -> str | None:
    if file is None:
        return text
    if text is not None:
        raise ConfigError("give --system or --system-file, not both")
    try:
        told = read_text(file, most=MAX_PLAIN).strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"--system-file {file}: cannot be read: {exc}") from exc
    if not told:
        raise ConfigError(f"--system-file {file}: is empty; --system '' asks without any")
    return told


class _Meter:
    """A line on the terminal that says how far it is."""

    def __init__(self) -> None:
        self._states: Counter[str] = Counter()
        self._shown = 0.0

    def __call__(self, row: Answered) -> None:
        self._states[row.state] += 1
        now = time.monotonic()
        if now - self._shown >= 0.2:
            self._shown = now
            counts = ", ".join(f"{count} {state}" for state, count in self._states.items())
            print(f"\r\x1b[K{counts}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _say(answers: Answers, opened: Cassette, *, field: str, out: Path | None) -> None:
    """Say on standard error what came of it: standard output may be the cases."""
    states, ledger = answers.states, opened.ledger
    words = {"live": "live", "tape": "from the tape", "store": "from the store"}
    came = ", ".join(f"{n} {w}" for o, w in words.items() if (n := ledger.origins[o]))
    told = [f"{states['answered']} answered" + (f" ({came})" if came else "")]
    kept = f"{states['kept']} had an {field} and kept it (--replace asks again)"
    told += [kept] if states["kept"] else []
    told += [f"{states['failed']} left without"] if states["failed"] else []
    place = printable(str(out)) if out is not None else "standard output"
    lines = [f"{'; '.join(told)}; written to {place}"]
    if answers.cut_off:
        lines.append(f"{answers.cut_off} of them ended by --max-tokens")
    if opened.added and opened.path is not None:
        lines.append(f"{opened.added} new on {opened.path}, to be committed")
    failures = list(answers.failures.items())
    lines += [f"  {case}: {f.kind}: {f.message}" for case, f in failures[:SHOWN]]
    if len(failures) > SHOWN:
        lines.append(f"  and {len(failures) - SHOWN} more; each row says why in its metadata")
    if ledger.missed:
        lines.append("To ask what is not recorded: --record new_episodes")
    lines += [f"judgekit: {note}" for note in opened.notes]
    if not states.total():
        lines.append("there were no cases")
    print("\n".join(printable(line) for line in lines), file=sys.stderr)
