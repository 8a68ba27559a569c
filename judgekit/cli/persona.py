"""`judgekit persona`: check and calibrate personas, and compare them with a judge."""

from pathlib import Path
from typing import Any

import typer

from judgekit.cli.options import command_group, named_values, overrides

app = command_group("Check and calibrate personas, and compare them with a judge.")


@app.command("lint")
def lint(files: list[Path], strict: bool = False, json: bool = False) -> None:
    """Check persona files for mistakes. Print where and why.

    Never call a judge. Exit codes: 0 no error, 1 an error, or with --strict a warning.
    """
    from judgekit.authoring.lint.persona import lint_personas, persona_rules
    from judgekit.authoring.lint.text import lint_json, lint_text

    linted = lint_personas(files)
    typer.echo((lint_json if json else lint_text)(linted, persona_rules()), nl=False)
    raise typer.Exit(linted.exit_code(strict=strict))


@app.command("calibrate")
def calibrate(
    persona: Path,
    labels: Path,
    step: list[str] | None = None,
    output: Path | None = None,
    split: float | None = None,
    seed: int = 42,
    l2: float | None = None,
    option: list[str] | None = None,
    json: bool = False,
) -> None:
    """Calibrate the metric authenticity for a persona, from labelled replies.

    Write PERSONA.calibration.yaml next to the persona file; the metric reads it. A fifth of the
    labels is held out to validate the calibration. Never call a judge.

    Exit codes: 0 written, 2 a file or a setting is wrong.
    """
    from judgekit.authoring.persona import calibrate as persona_calibrate
    from judgekit.cli.output import print_json

    options = named_values("--option", option)
    steps = step or persona_calibrate.STEPS
    plan = persona_calibrate.CalibratePlan(persona, labels, steps, output, options, split, seed, l2)
    outcome = persona_calibrate.calibrate(plan)
    persona_calibrate.write_calibration(plan, outcome.calibration)
    if json:
        print_json("calibration", outcome.calibration.model_dump(mode="json"))
    else:
        typer.echo(persona_calibrate.calibrated_text(outcome, plan.path), nl=False)


@app.command("diagnose")
def diagnose(
    command: typer.Context,
    persona: Path,
    source: Path,
    judge: list[str] | None = None,
    api_base: str | None = None,
    param: list[str] | None = None,
    cassette: Path | None = None,
    record: str | None = None,
    sample: str = "errors",
    rate: float = 0.2,
    budget: int | None = None,
    seed: int = 42,
    threshold: float | None = None,
    held_out: bool = False,
    option: list[str] | None = None,
    json: bool = False,
) -> None:
    """Show where the metric authenticity and a judge disagree: which turns, and why.

    The source is a suite, with its cases, judge and cassette, or a file of labels. The judge gets
    a sample of the cases.

    Exit codes: 0 compared, 2 the setup is wrong, 3 a sampled case has no verdict.
    """
    _compare(command.params)


@app.command("scenarios")
def scenarios(
    command: typer.Context,
    persona: Path,
    source: Path,
    by: str = "scenario",
    judge: list[str] | None = None,
    api_base: str | None = None,
    param: list[str] | None = None,
    cassette: Path | None = None,
    record: str | None = None,
    sample: str = "stratified",
    rate: float = 0.2,
    budget: int | None = None,
    seed: int = 42,
    option: list[str] | None = None,
    json: bool = False,
) -> None:
    """Show authenticity and a judge by scenario, with strengths and weaknesses.

    The source is a suite, with its cases, judge and cassette, or a file of labels. The judge gets
    a sample of the cases. A tag `scenario:NAME` names a scenario, too.

    Exit codes: 0 compared, 2 the setup is wrong, 3 a sampled case has no verdict.
    """
    _compare(command.params)


def _compare(flags: dict[str, Any]) -> None:
    """Compare a persona with a judge, and print the outcome."""
    from judgekit.authoring.persona import diagnose as work
    from judgekit.cli.output import print_notes

    settings = {name: flags[name] for name in work.SamplePlan._fields if name in flags}
    options = named_values("--option", flags["option"])
    plan = work.SamplePlan(flags["sample"], options=options, **settings)
    outcome = work.compare_with_judge(flags["persona"], flags["source"], plan, overrides(flags))
    text = work.scenarios_text if "by" in flags else work.diagnosis_text
    typer.echo(text(outcome, as_json=flags["json"]), nl=False)
    print_notes(outcome.suite)
    raise typer.Exit(3 if outcome.missing else 0)
