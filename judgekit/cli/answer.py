"""`judgekit answer`: call the system under test and write its answers into the cases."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from judgekit.cli.options import named_values
from judgekit.core.canonical import printable
from judgekit.core.errors import ConfigError

if TYPE_CHECKING:
    from judgekit.cassette.cassette import Cassette as OpenCassette
    from judgekit.core.case import Case
    from judgekit.suite.answering import Answered, AnsweredCases, AnswerFunction

KEPT = "the answers so far are kept"
SHOWN = 10
"""Maximum number of failures to print; each written row also has its failure."""


def answer(
    cases: str,
    model: str | None = None,
    models: str | None = None,
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
    max_cost: float | None = None,
    rpm: str | None = None,
    tpm: str | None = None,
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

    --models A,B writes a file for each model into the folder --out. With a suite instead of
    cases, answer its cases by each model, score them with the suite, and write a run folder for
    each model below --out, by default runs; missing verdicts are asked for, too.

    Exit codes: 0 all answered, 1 a gate of the suite failed, 2 the setup is wrong, 3 some cases
    have no answer or no score.
    """
    from judgekit.datasets import load_cases
    from judgekit.judges.budget import LocalBudget
    from judgekit.judges.local import PREFIX
    from judgekit.suite.systems import paths_of

    suite = Path(cases) if cases.endswith((".yaml", ".yml")) else None
    steered = _steered(steering_vector, layer, strength, field=field)
    if (model is None) == (models is None):
        raise ConfigError("name the system under test: --model MODEL, or several: --models A,B")
    if models is None:
        if suite is not None:
            raise ConfigError(f"{cases}: is a suite; answer its cases with --models {model}")
        name = PREFIX + str(model).removeprefix(PREFIX) if steered else str(model)
        paths = {name: out}
    else:
        if steered is not None:
            raise ConfigError("--steering-vector steers one model; name it with --model")
        if suite is not None and field != "output":
            raise ConfigError("a suite scores outputs; remove --field")
        ending, default = (".jsonl", None) if suite is None else ("", Path("runs"))
        paths = paths_of(models, out or default, ending=ending)
    params = {"max_tokens": max_tokens, "temperature": temperature, "top_p": top_p}
    asking = _Asking(
        system={
            "api_base": api_base,
            "api_key_env": api_key_env,
            "identity": identity,
            "params": {**params, **named_values("--param", param)},
            "cassette": cassette,
            "record": record or "new_episodes",
            "redact": redact or [],
            "concurrency": concurrency,
            "budget": None if max_cost is None else LocalBudget(max_cost),
            "rpm": _rate("--rpm", rpm),
            "tpm": _rate("--tpm", tpm),
        },
        options={
            "field": field,
            "system": _system_prompt(system, system_file),
            "replace": replace or suite is not None,
            "window": 4 * concurrency,
        },
        steered=steered,
        quiet=quiet,
        several=models is not None,
        keep=suite is not None,
    )
    if suite is not None:
        raise typer.Exit(_score_models(suite, paths, asking, limit=limit))
    given = list(load_cases(cases, limit=limit)) if cases == "-" and len(paths) > 1 else None
    code = 0
    for file in filter(None, paths.values()):
        _check_out(cases, file, limit=limit, cassette=cassette)
    for name, path in paths.items():
        rows = load_cases(cases, limit=limit) if given is None else iter(given)
        first = next(rows)  # `load_cases` raises an error for a source without cases
        _keep_other_files(path, first, cases)
        answers = asking.answers(name, chain([first], rows), path)
        code = max(code, answers.exit_code)
        if _stopped(answers):
            break
    raise typer.Exit(code)


class _Asking(NamedTuple):
    """The settings for calls to systems under test."""

    system: dict[str, Any]
    """Options of `open_system`."""
    options: dict[str, Any]
    """Options of `answer_cases`."""
    steered: AnswerFunction | None
    """AnsweredCases in place of `answer_cases`, with a steering vector."""
    quiet: bool

    several: bool
    """Whether there are several models."""
    keep: bool
    """Whether to keep the cases in memory and print none."""

    def answers(self, model: str, rows: Iterable[Case], out: Path | None = None) -> AnsweredCases:
        """Answer with a model, write or print the cases, and print the outcome."""
        from judgekit.cli.screen import StatusLine, run_interruptible
        from judgekit.datasets.write import write_cases
        from judgekit.suite.answering import answer_cases
        from judgekit.suite.systems import open_system

        line = StatusLine(shown=not self.quiet and (self.keep or out is not None))
        counts: Counter[str] = Counter()

        def show(row: Answered) -> None:
            counts[row.state] += 1
            if line.due():
                line.show(", ".join(f"{n} {state}" for state, n in counts.items()))

        options = {**self.options, "out": out, "progress": show}
        with open_system(model, **self.system) as opened, line:
            fill = partial(self.steered or answer_cases, rows, opened, **options)
            answers = run_interruptible(lambda stop: fill(stop=stop), kept=KEPT)
        if out is None and not self.keep:
            write_cases(answers.cases, None)
        lines = [f"{model}:"] if self.several else []
        place = "" if self.keep else f"; written to {out or 'standard output'}"
        lines += _outcome_lines(answers, opened, field=self.options["field"], place=place)
        print("\n".join(map(printable, lines)), file=sys.stderr)  # standard output may be the cases
        return answers


def _score_models(
    suite: Path, folders: Mapping[str, Path | None], asking: _Asking, *, limit: int | None
) -> int:
    """Answer the cases of a suite with each model, score them, and return the exit code."""
    from judgekit.cli.options import overrides
    from judgekit.cli.output import notes_of, print_run, run_with_progress
    from judgekit.core.synchronous import Flag
    from judgekit.suite.suite import load_suite

    flags = overrides({"record": asking.system["record"]}, limit=limit)
    codes = []
    for model, folder in folders.items():
        loaded = load_suite(suite, flags)
        answers = asking.answers(model, loaded.cases())
        if _stopped(answers):
            loaded.close()
            return 3
        loaded.use_answers(answers.cases, model=model)
        stop = Flag()
        report = run_with_progress(loaded, out=folder, quiet=asking.quiet, stop=stop)
        print_run(report, quiet=asking.quiet, notes=notes_of(loaded))
        codes.append(max(report.exit_code, answers.exit_code))
        if stop.is_set():
            break
    return max(codes)


def _stopped(answers: AnsweredCases) -> bool:
    """Return whether Ctrl-C ended the answers."""
    from judgekit.suite.answering import STOPPED

    return STOPPED in answers.failures.values()


def _rate(flag: str, text: str | None) -> float | str | None:
    if text is None or text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{flag} {text}: give a number or auto") from None


def _steered(
    vector: Path | None, layer: int | None, strength: float, *, field: str
) -> AnswerFunction | None:
    """Return a function like `answer` that steers; `None` without a vector."""
    if vector is None:
        if layer is not None or strength != 1:
            raise ConfigError("--layer and --strength steer; add --steering-vector FILE")
        return None
    if layer is None:
        raise ConfigError("--steering-vector needs --layer N, the layer it was trained on")
    if field != "output":
        raise ConfigError("--steering-vector fills in output and baseline; remove --field")
    from judgekit.core.entry_points import load_offer, only_offer

    # By name and not by import: the command line works without the package that steers.
    offer = only_offer("judgekit.answers", "steering-vector", "--steering-vector")
    load = load_offer(offer, "--steering-vector")
    steered: AnswerFunction = load(vector, layer=layer, strength=strength)
    return steered


def _check_out(source: str, out: Path, *, limit: int | None, cassette: Path | None) -> None:
    if out.is_dir():
        raise ConfigError(f"--out {out}: is a folder; name a file")
    if cassette is not None and out.resolve() == cassette.resolve():
        raise ConfigError(f"--out {out}: is the cassette; name another file for the answers")
    if limit is not None and source != "-" and out.resolve() == Path(source).resolve():
        message = f"--out {out}: --limit would remove the cases after it; name another file"
        raise ConfigError(message)


def _keep_other_files(out: Path | None, first: Case, source: str) -> None:
    """Reject replacing a file that does not contain these cases."""
    from judgekit.core.case import Case
    from judgekit.core.output_file import refuse_foreign

    if out is None or (source != "-" and out.resolve() == Path(source).resolve()):
        return
    begin = Case(id=first.id).model_dump_json(exclude_defaults=True).removesuffix("}").encode()
    refuse_foreign(out, lambda head: head.startswith(begin), what="a file of these cases")


def _system_prompt(text: str | None, file: Path | None) -> str | None:
    from judgekit.core.input_file import read_prompt

    if file is None:
        return text
    if text is not None:
        raise ConfigError("give --system or --system-file, not both")
    prompt = read_prompt(file, flag=f"--system-file {file}")
    if not prompt:
        raise ConfigError(f"--system-file {file}: is empty; for no system prompt: --system ''")
    return prompt


def _outcome_lines(
    answers: AnsweredCases, cassette: OpenCassette, *, field: str, place: str
) -> Iterator[str]:
    """Yield the outcome as lines."""
    from judgekit.report.text import origins_text

    states, ledger = answers.states, cassette.ledger
    origins = origins_text(ledger.origins)
    line = f"{states['answered']} answered" + (f" ({origins})" if origins else "")
    if states["kept"]:
        line += f"; {states['kept']} already had an {field} (--replace answers them again)"
    if states["failed"]:
        line += f"; {states['failed']} without an answer"
    yield line + place
    if answers.cut_off:
        yield f"{answers.cut_off} of them were cut off by --max-tokens"
    if cassette.added and cassette.path is not None:
        yield f"{cassette.added} new on {cassette.path}; commit it"
    for case, failure in islice(answers.failures.items(), SHOWN):
        yield f"  {case}: {failure.kind}: {failure.message}"
    if len(answers.failures) > SHOWN:
        yield f"  and {len(answers.failures) - SHOWN} more; each row has its failure in metadata"
    if ledger.missed:
        yield "To record what is missing: --record new_episodes"
    yield from (f"judgekit: {note}" for note in cassette.notes)
    if not states.total():
        yield "the file has no cases"
