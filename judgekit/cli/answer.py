"""`judgekit answer`: ask the system under test, and write its answers beside the cases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.options import ApiBase, Param, Record
from judgekit.core.example_model import EXAMPLE_MODEL


def answer(
    cases: Annotated[
        str, typer.Argument(help="File of cases, or - for standard input.", show_default=False)
    ],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help=f"The system under test, such as {EXAMPLE_MODEL} or ollama_chat/qwen3:8b.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write; standard output by default."),
    ] = None,
    field: Annotated[str, typer.Option("--field", help="What to fill: output or baseline.")] = (
        "output"
    ),
    system: Annotated[
        str | None,
        typer.Option(
            "--system", help="System prompt in place of the cases' own; blank for none at all."
        ),
    ] = None,
    system_file: Annotated[
        Path | None, typer.Option("--system-file", help="File that holds it.")
    ] = None,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, help="Longest answer, in tokens.")
    ] = 256,
    temperature: Annotated[
        float, typer.Option("--temperature", min=0, help="0 is as steady as the model gets.")
    ] = 0.0,
    top_p: Annotated[
        float, typer.Option("--top-p", min=0, max=1, help="Share of likely words to choose from.")
    ] = 1.0,
    param: Param = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Read and write only the first cases.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Answer cases that have an answer already, too.")
    ] = False,
    api_base: ApiBase = None,
    api_key_env: Annotated[
        str | None, typer.Option("--api-key-env", help="Environment variable that holds the key.")
    ] = None,
    identity: Annotated[
        str | None,
        typer.Option("--identity", help="What really answers under that name; part of every key."),
    ] = None,
    cassette: Annotated[
        Path | None, typer.Option("--cassette", help="Tape to replay from and record to.")
    ] = None,
    record: Record = None,
    redact: Annotated[
        list[str] | None,
        typer.Option(
            "--redact",
            help="What is neither asked nor recorded: key, email, card, ip, phone, or a pattern; "
            "may be repeated.",
        ),
    ] = None,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Calls in flight.")] = 8,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress.")] = False,
) -> None:
    """Ask the system under test for its answers.

    Fills in `output`, or `baseline` to compare with.

    Cases that have the field are kept. Every answer is in the store the moment it comes, so the
    same command goes on where it stopped; with --record none it replays and asks nobody.

    Exit codes: 0 all answered, 2 something is set up wrongly, 3 some are left without an answer.
    """
    from judgekit.cli.answering import answer_and_print
    from judgekit.cli.options import named_values

    params = {"max_tokens": max_tokens, "temperature": temperature, "top_p": top_p}
    code = answer_and_print(
        cases,
        model=model,
        out=out,
        field=field,
        system=system,
        system_file=system_file,
        limit=limit,
        replace=replace,
        quiet=quiet,
        window=4 * concurrency,
        settings={
            "api_base": api_base,
            "api_key_env": api_key_env,
            "identity": identity,
            "params": {**params, **named_values("--param", param)},
            "cassette": cassette,
            "record": record or "new_episodes",
            "redact": redact or [],
            "concurrency": concurrency,
        },
    )
    raise typer.Exit(code)
