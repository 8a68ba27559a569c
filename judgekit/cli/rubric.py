"""`judgekit rubric`: write, check, show and test rubrics."""

from functools import partial
from pathlib import Path
from typing import Literal

import typer

from judgekit.cli.options import command_group, named_values, overrides, settings
from judgekit.cli.output import print_document, print_json
from judgekit.core.canonical import printable
from judgekit.core.errors import ConfigError

app = command_group("Write, check, show and test rubrics.")


@app.command("new")
def new(
    name: str | None = None,
    description: str | None = None,
    criterion: list[str] | None = None,
    kind: str = "levels",
    requires: str = "input",
    quotes: bool = False,
    frame: bool = False,
    folder: Path = Path("rubrics"),
    force: bool = False,
    yes: bool = False,
) -> None:
    """Write a new rubric: a commented file to edit.

    In a terminal, ask for what it judges, unless a --criterion is given. With --frame, the cases
    have the criteria, and the rubric is the text around them.
    """
    from judgekit.authoring.scaffold import draft as drafts
    from judgekit.authoring.scaffold.interview import rubric_interview
    from judgekit.cli.prompts import ask, is_terminal, print_steps

    if frame:
        draft = drafts.frame_from(name, description=description, criteria=criterion or [])
    elif not yes and not criterion and is_terminal():
        fault = partial(drafts.new_name_fault, folder=folder, force=force)
        draft = ask(lambda: rubric_interview(name or "", name_fault=fault))
    else:
        draft = drafts.draft_from(
            name,
            description=description,
            criteria=criterion or [],
            kind=kind,
            requires=requires,
            quotes=quotes,
        )
    for path in drafts.write_rubric(draft, folder=folder, force=force):
        typer.echo(printable(str(path)))
    print_steps(drafts.after_rubric(draft, folder=folder))


@app.command("lint")
def lint(
    sources: list[str] | None = None,
    results: Path | None = None,
    format: Literal["text", "sarif", "json"] = "text",
    sarif: bool = False,
    strict: bool = False,
    minimum: int | None = None,
    api: Literal["decisions", "systemone"] | None = None,
    rules: bool = False,
    explain: str | None = None,
    json: bool = False,
) -> None:
    """Check rubrics for mistakes. Print where, why, and how to fix them.

    Never call a judge. Exit codes: 0 no error, 1 an error, or with --strict a warning.
    """
    from judgekit.authoring.lint.lint import lint_rubrics, lint_rules
    from judgekit.authoring.lint.text import lint_json, lint_text, rules_json, rules_text

    json, sarif = json or format == "json", sarif or format == "sarif"
    if json and sarif:
        raise ConfigError("give --json or --sarif, not both")
    if explain is not None or rules:
        typer.echo((rules_json if json else rules_text)(lint_rules(), only=explain), nl=False)
        return
    linted = lint_rubrics(sources or (), results=results, minimum=minimum, api=api)
    if sarif:
        from judgekit.authoring.lint.text import lint_sarif

        text = lint_sarif(linted)
    else:
        text = lint_json(linted) if json else lint_text(linted)
    typer.echo(text, nl=False)
    raise typer.Exit(linted.exit_code(strict=strict))


@app.command("list")
def list_rubrics(folder: Path | None = None, suite: Path | None = None, json: bool = False) -> None:
    """List rubrics in the order of name lookup."""
    from judgekit.cli.screen import fitted
    from judgekit.rubric.show import list_text, listed_rubrics

    if suite is not None:
        from judgekit.suite.overrides import suite_folders

        listed = listed_rubrics(suite_folders(suite))
    else:
        listed = listed_rubrics(folder=folder)
    if json:
        print_json("rubrics", {"rubrics": [one._asdict() for one in listed]})
    else:
        typer.echo(fitted(list_text(listed)), nl=False)


@app.command("show")
def show(name: str, json: bool = False) -> None:
    """Show the criteria, weights and modes of a rubric."""
    from judgekit.rubric.asked import sees_lines
    from judgekit.rubric.display import rubric_data, rubric_text
    from judgekit.rubric.load import load_rubric

    rubric = load_rubric(name)
    sees = sees_lines(rubric)
    if json:
        print_json("rubric", {"rubric": rubric_data(rubric, sees=sees)})
    else:
        typer.echo(rubric_text(rubric, sees=sees), nl=False)


@app.command("render")
def render(
    name: str,
    cases: str | None = None,
    case: str | None = None,
    mode: str | None = None,
    judge: str = "MODEL",
    set: list[str] | None = None,
    param: list[str] | None = None,
    identity: str | None = None,
    diff: str | None = None,
    json: bool = False,
) -> None:
    """Print what a judge would see, and the key of the request. Never call a judge."""
    from judgekit.authoring.preview import preview_text

    text = preview_text(
        name,
        cases=cases,
        case=case,
        mode=mode,
        model=judge,
        settings=settings(set, [name]).get(name, {}),
        params=named_values("--param", param),
        identity=identity,
        against=diff,
        as_json=json,
    )
    typer.echo(text, nl=False)


@app.command("test")
def run_tests(
    command: typer.Context,
    sources: list[str] | None = None,
    record: str | None = None,
    judge: str | None = None,
    answers: str | None = None,
    api_base: str | None = None,
    param: list[str] | None = None,
    cassettes: Path | None = None,
    prune: bool = False,
    json: bool = False,
) -> None:
    """Run the tests in rubrics against recorded replies.

    Call a judge only with --record or --judge.

    Exit codes: 0 passed, 1 a test failed, 2 the setup is wrong, 3 replies are not recorded.
    """
    from judgekit.authoring.rubric_test.text import tests_outcome

    chosen = overrides(command.params)
    text, code = tests_outcome(
        sources or [], chosen, answers=answers, cassettes=cassettes, prune=prune, as_json=json
    )
    typer.echo(text, nl=False)
    raise typer.Exit(code)


@app.command("diff")
def diff(
    old: str,
    new: str,
    results: Path | None = None,
    metric: str | None = None,
    threshold: float | None = None,
    tape: Path | None = None,
    json: bool = False,
) -> None:
    """Compare two versions of a rubric.

    Show the changes, and their effect on a run.

    Never call a judge: verdicts with an unchanged request are scored again, all others are listed
    as requests to send again.
    """
    from judgekit.authoring.rubric_diff.text import diff_text

    text = diff_text(
        old, new, results=results, metric=metric, threshold=threshold, tape=tape, as_json=json
    )
    typer.echo(text, nl=False)


@app.command("upgrade")
def upgrade_suite(suite: Path, yes: bool = False, json: bool = False) -> None:
    """Upgrade a suite to the newest built-in rubrics.

    A suite keeps the versions under which its tape was begun. Show what changes, which labels and
    recordings carry over, and what must be asked; write with --yes. Never call a judge.

    Exit codes: 0 shown or done, 1 something must be decided first, 2 the setup is wrong.
    """
    from judgekit.authoring.rubric_diff.upgrade import upgrade

    outcome = upgrade(suite, write=yes)
    if json:
        print_json("rubric_upgrade", outcome.to_json())
    else:
        typer.echo(outcome.text, nl=False)
    raise typer.Exit(outcome.exit_code)


@app.command("stats")
def stats(
    folder: Path, labels: Path | None = None, json: bool = False, markdown: bool = False
) -> None:
    """Measure what each criterion of a run adds, and name those that add nothing.

    Mean, relation to the other criteria, closest criterion, agreement with people if there are
    labels, and the effect of removing it. Never call a judge.

    Exit codes: 0 measured, 2 the run or the labels are wrong.
    """
    from judgekit.analysis.rubric_stats.measure import rubric_stats

    found = rubric_stats(folder, labels)
    print_document(found, "rubric_stats", found.to_json, as_json=json, markdown=markdown)
