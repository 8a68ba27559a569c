"""`judgekit cases` and `judgekit perturb`: check, sanitize, sample and perturb cases."""

import sys
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

import typer

from judgekit.cli.options import command_group
from judgekit.cli.output import print_document
from judgekit.core.errors import ConfigError

if TYPE_CHECKING:
    from judgekit.authoring.lint.rule import Linted

app = command_group("Check, sanitize and sample files of cases.")


@app.command("sanitize")
def sanitize(
    cases: str,
    out: Path | None = None,
    kind: list[str] | None = None,
    replacement: Literal["pseudonym", "kind"] = "pseudonym",
    salt_env: str | None = None,
    compat: Literal["alignmenter"] | None = None,
    dry_run: bool = False,
    force: bool = False,
    format: str | None = None,
    json: bool = False,
) -> None:
    """Replace personal data in cases, and count it by kind and field.

    Write JSON Lines. Names without a title, hints and misspelled data stay: read the output before
    you share it.
    """
    from judgekit.datasets.load import load_cases, shape_of
    from judgekit.privacy import sanitize as work

    target = None if dry_run else out
    if target is not None:
        work.check_output(cases, target, force=force)
    elif not dry_run:
        raise ConfigError("name the file to write: --out FILE, or only count: --dry-run")
    salt = work.salt_of(salt_env)
    sanitizer = work.Sanitizer(kind or (), replacement=replacement, salt=salt, compat=compat)
    rows = load_cases(cases, format=shape_of(format))
    work.write_sanitized(rows, sanitizer, target)
    typer.echo(sanitizer.json_text() if json else sanitizer.text(out=target), nl=False)


@app.command("lint")
def lint(
    cases: str | None = None,
    map: list[str] | None = None,
    sheet: str | None = None,
    format: str | None = None,
    strict: bool = False,
    rules: bool = False,
    explain: str | None = None,
    json: bool = False,
) -> None:
    """Check a file of cases for mistakes. Print where, why, and how to fix them.

    CASES may be a suite, which then says how its file of cases is read. Never call a judge. Exit
    codes: 0 no error, 1 an error, or with --strict a warning.
    """
    from judgekit.authoring.cases.lint import case_rules, lint_cases
    from judgekit.authoring.lint.text import lint_json, lint_text, rules_json, rules_text
    from judgekit.cli.prompts import is_terminal
    from judgekit.datasets.load import shape_of
    from judgekit.suite.resolved import resolve
    from judgekit.suite.source import is_suite

    # The flag was the format of the findings in earlier versions.
    rows = None if format in ("text", "json") else format
    shape, json = shape_of(rows), json or format == "json"
    if explain is not None or rules:
        shown = (rules_json if json else rules_text)(case_rules(), only=explain, command="cases")
        typer.echo(shown, nl=False)
        return
    if cases is None:
        raise ConfigError("name a file of cases: judgekit cases lint FILE")
    if is_suite(cases):
        if map or sheet:
            raise ConfigError("--map is for a file of cases; a suite has it under cases: {fields:}")
        given = resolve(cases).cases()
        if given.inline:
            raise ConfigError("the cases are in the suite; `judgekit run --plan` checks them")
        options = {name: value for name, value in given.shape().items() if value is not None}
        own = options.pop("format", None)
        linted = lint_cases(given.source()[0], shape=shape if rows else own, **options)
    else:
        sheets = {} if sheet is None else {"sheet": sheet}
        read = partial(lint_cases, cases, shape=shape)
        linted = read(**(_options(cases, map, **sheets) if map else sheets))
        if not map and cases != "-" and not json and _unknown_columns(linted):
            if is_terminal():
                linted = read(**_asked_options(cases, **sheets))
            else:
                print(_map_hint(cases, **sheets), file=sys.stderr)
    text = (lint_json if json else lint_text)(linted, case_rules())
    typer.echo(text, nl=False)
    raise typer.Exit(linted.exit_code(strict=strict))


def _options(cases: str, flags: list[str], **settings: str) -> dict[str, Any]:
    """Return the options of a reader for `--map` flags."""
    from judgekit.authoring.scaffold.columns import fields_of, guess_fields, look_at, mapped

    table = look_at(Path(cases), **settings)
    fields = fields_of(mapped(flags, table, guess_fields(table.columns)), table)
    return {**table.settings, **({"fields": fields} if fields else {})}


def _asked_options(cases: str, **settings: str) -> dict[str, Any]:
    """Ask which column is what, and return the options of a reader."""
    from judgekit.authoring.scaffold.columns import columns_text, guess_fields, look_at
    from judgekit.authoring.scaffold.own_suite import columns_interview
    from judgekit.cli.prompts import ask
    from judgekit.cli.screen import columns
    from judgekit.core.canonical import printable

    table = look_at(Path(cases), **settings)
    guessed = guess_fields(table.columns)
    typer.echo(printable(columns_text(table, guessed, width=columns())), nl=False)
    mapping = ask(lambda: columns_interview(table, guessed))
    return _options(cases, [f"{c}={field}" for c, field in mapping.items()], **settings)


def _unknown_columns(linted: "Linted") -> bool:
    """Return whether rows could not be read because of the names of their columns."""
    return any(one.rule == "unreadable" and "unknown key" in one.message for one in linted.open)


def _map_hint(cases: str, **settings: str) -> str:
    """Return the question which column is what, with the flags of the guess."""
    from judgekit.authoring.scaffold.columns import guess_fields, look_at
    from judgekit.core.canonical import printable

    table = look_at(Path(cases), **settings)
    guess = guess_fields(table.columns) or {table.names[0]: "output"}
    flags = " ".join(f"--map {quote(f'{name}={field}')}" for name, field in guess.items())
    question = "judgekit: which column is what? add"
    return " ".join(printable(f"{question} {flags}; init --cases writes a suite").split())


@app.command("criteria")
def criteria(cases: str, format: str | None = None, json: bool = False) -> None:
    """List the criteria that cases have themselves: points, kinds, tags and copies.

    CASES is a file of cases, or a suite, whose `fields` then say where the criteria are.
    """
    from judgekit.authoring.cases.criteria import list_criteria
    from judgekit.datasets.load import load_cases, shape_of
    from judgekit.suite.source import is_suite

    if is_suite(cases):
        from judgekit.suite.resolved import resolve

        read = resolve(cases).cases().cases()
    else:
        read = load_cases(cases, format=shape_of(format))
    listed = list_criteria(read)
    data = partial(listed.model_dump, mode="json")
    print_document(listed, "case_criteria", data, as_json=json)


@app.command("sample")
def sample(
    cases: str,
    count: int,
    by: str | None = None,
    seed: int = 42,
    out: Path | None = None,
    force: bool = False,
    format: str | None = None,
) -> None:
    """Write a random sample of cases as JSON Lines, in proportion to the values of a field.

    Every value has at least one case if the sample is large enough. The same seed gives the same
    bytes, and the order of the file does not matter.
    """
    from judgekit.core.display.parts import counted
    from judgekit.datasets.load import load_cases, shape_of
    from judgekit.datasets.stratified import sample_cases
    from judgekit.datasets.write import write_cases
    from judgekit.privacy.sanitize import check_output

    if out is not None:
        check_output(cases, out, force=force)
    drawn = sample_cases(load_cases(cases, format=shape_of(format)), count, by=by, seed=seed)
    write_cases(drawn, out)
    text = f"{counted(len(drawn), 'case')} written to {out or 'standard output'}"
    print(text + ("; the file has no more" if len(drawn) < count else ""), file=sys.stderr)


def perturb(
    cases: str,
    kind: list[str],
    out: Path | None = None,
    count: int = 1,
    rate: float = 0.1,
    seed: int = 0,
    lexicon: Path | None = None,
    instruction: list[str] | None = None,
    limit: int | None = None,
) -> None:
    """Write perturbed copies of cases as JSON Lines.

    Each copy names its original as `parent` and keeps the original's output as `baseline`. The
    same seed gives the same bytes. Answer the copies with `judgekit answer`, or with your own
    system, and score them with adversarial_robustness.
    """
    from judgekit.datasets import perturb as work
    from judgekit.datasets.load import load_cases
    from judgekit.datasets.write import write_cases

    if out is not None:
        work.check_output(out)
    words = work.read_lexicon(lexicon) if lexicon else None
    changes = [
        work.Perturbation(name, rate=rate, lexicon=words, instructions=instruction) for name in kind
    ]
    copies = work.perturb(load_cases(cases, limit=limit), changes, seed=seed, count=count)
    written = write_cases(copies, out)
    print(f"{written} perturbed cases written to {out or 'standard output'}", file=sys.stderr)
    if not written:
        print("no case has an input that these kinds could change", file=sys.stderr)
