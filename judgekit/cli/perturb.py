"""`judgekit perturb`: perturbed copies of cases, to test the robustness of a system."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.options import CasesFile


def perturb(
    cases: CasesFile,
    kind: Annotated[
        list[str],
        typer.Option(
            "--kind",
            "-k",
            metavar="<kind>",
            help="Kind of change: typos, case, spacing, homoglyphs, synonyms or injection; may be "
            "repeated.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; standard output by default.")
    ] = None,
    count: Annotated[int, typer.Option("--count", help="Copies of each case and kind.")] = 1,
    rate: Annotated[
        float, typer.Option("--rate", help="Share of words, gaps or letters to change.")
    ] = 0.1,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the random changes.")] = 0,
    lexicon: Annotated[
        Path | None,
        typer.Option("--lexicon", help="YAML file of synonyms, WORD: [OTHER, ...]."),
    ] = None,
    instruction: Annotated[
        list[str] | None,
        typer.Option(
            "--instruction", metavar="<text>", help="Text that injection inserts; may be repeated."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="<n>", help="Perturb only the first n cases.")
    ] = None,
) -> None:
    """Write perturbed copies of cases as JSON Lines.

    Each copy names its original as `parent` and keeps the original's output as `baseline`. The
    same seed gives the same bytes. Answer the copies with `judgekit answer`, or with your own
    system, and score them with adversarial_robustness.
    """
    from judgekit.datasets import load_cases
    from judgekit.datasets.perturb.lexicon import read_lexicon
    from judgekit.datasets.perturb.perturb import Perturbation, check_output
    from judgekit.datasets.perturb.perturb import perturb as perturbed
    from judgekit.datasets.write import write_cases

    if out is not None:
        check_output(out)

    words = read_lexicon(lexicon) if lexicon else None
    changes = [
        Perturbation(name, rate=rate, lexicon=words, instructions=instruction) for name in kind
    ]
    copies = perturbed(load_cases(cases, limit=limit), changes, seed=seed, count=count)
    written = write_cases(copies, out)
    place = out if out is not None else "standard output"
    print(f"{written} perturbed cases written to {place}", file=sys.stderr)
    if not written:
        print("no case has an input that these kinds could change", file=sys.stderr)
