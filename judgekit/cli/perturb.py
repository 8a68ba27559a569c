"""`judgekit perturb`: perturbed copies of cases, to test the robustness of a system."""

import sys
from pathlib import Path


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
    print(f"{written} perturbed cases written to {out or 'standard output'}", file=sys.stderr)
    if not written:
        print("no case has an input that these kinds could change", file=sys.stderr)
