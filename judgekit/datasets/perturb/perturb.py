"""Perturb: cases in, changed copies of them out, each naming the case it came from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from judgekit.core.case import ANSWERED, Case, has_text
from judgekit.core.errors import ConfigError
from judgekit.core.output_file import refuse_foreign
from judgekit.core.suggest import suggest
from judgekit.datasets.perturb.draw import Draw
from judgekit.datasets.perturb.spelling import case as case_of
from judgekit.datasets.perturb.spelling import homoglyphs, spacing, typos
from judgekit.datasets.perturb.wording import INSTRUCTIONS, injection, synonyms

Kind = Literal["typos", "case", "spacing", "homoglyphs", "synonyms", "injection"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ORIGINAL = "original_input"
"""Key of `expected` under which a perturbed case keeps the input it came from."""


class Perturbation:
    """A kind of change and how strong it is.

    Args:
        kind: `typos`, `case`, `spacing`, `homoglyphs`, `synonyms` or `injection`.
        rate: share of the places that could change which do, over 0 to 1; one at least changes.
        lexicon: word -> its synonyms, for `synonyms`.
        instructions: what `injection` slips in; a few of judgekit's own by default.

    Raises:
        ConfigError: no such kind, a rate out of bounds, synonyms without a lexicon.
    """

    def __init__(
        self,
        kind: str,
        *,
        rate: float = 0.1,
        lexicon: Mapping[str, Sequence[str]] | None = None,
        instructions: Sequence[str] | None = None,
    ) -> None:
        if kind not in KINDS:
            raise ConfigError(f"no perturbation {kind!r}{suggest(kind, KINDS)}")
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 < rate <= 1:
            raise ConfigError(f"perturbation {kind}: rate must be over 0 and at most 1, not {rate}")
        if kind == "synonyms" and not lexicon:
            raise ConfigError("perturbation synonyms needs a lexicon: word -> [synonym, ...]")
        if instructions is not None and not (instructions and all(map(has_text, instructions))):
            raise ConfigError("perturbation injection: instructions must be texts, none blank")
        self.kind = kind
        self.rate = float(rate)
        self.lexicon = dict(lexicon or {})
        self.instructions = tuple(instructions or INSTRUCTIONS)

    def apply(self, text: str, *, draw: Draw) -> str:
        """Return the changed text; the same text where nothing in it could change."""
        match self.kind:
            case "typos":
                return typos(text, draw=draw, rate=self.rate)
            case "case":
                return case_of(text, draw=draw, rate=self.rate)
            case "spacing":
                return spacing(text, draw=draw, rate=self.rate)
            case "homoglyphs":
                return homoglyphs(text, draw=draw, rate=self.rate)
            case "synonyms":
                return synonyms(text, draw=draw, rate=self.rate, lexicon=self.lexicon)
            case _:
                return injection(text, draw=draw, instructions=self.instructions)


def perturb(
    cases: Iterable[Case],
    perturbations: Sequence[Perturbation],
    *,
    seed: int = 0,
    count: int = 1,
) -> Iterator[Case]:
    """Yield changed copies of every case.

    A copy has a changed `input`, no `output` yet, the original's output as its `baseline`, the
    original's id as its `parent`, and the original input under `expected.original_input`. What
    it is depends on the seed, the case's id, the kind and the copy's number alone, so that other
    cases, other kinds and their order change nothing. A copy in which nothing changed is left
    out, and so are a case without input and copies that repeat an earlier one.

    Args:
        cases: the originals.
        perturbations: the kinds of change.
        seed: another one gives other changes.
        count: copies of each case and kind.

    Raises:
        ConfigError: no perturbation, or a count below 1.
    """
    if not perturbations:
        raise ConfigError("say how to perturb: one kind at least")
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ConfigError(f"count must be a whole number of at least 1, not {count!r}")
    for original in cases:
        if original.input is None or not has_text(original.input):
            continue
        for perturbation in perturbations:
            seen = {original.input}
            for number in range(1, count + 1):
                draw = Draw("perturb", seed, original.id, perturbation.kind, number)
                changed = perturbation.apply(original.input, draw=draw)
                if changed in seen:
                    continue
                seen.add(changed)
                yield _copy(original, changed, perturbation, number, seed)


def check_output(path: Path) -> None:
    """Refuse to write copies over a file that holds anything else.

    Raises:
        ConfigError: it is there and does not begin with a copy, or it is a link.
    """
    begin = re.compile(rb'\{"id":"[^"]*~(%s)-\d+"' % "|".join(KINDS).encode())
    refuse_foreign(path, lambda head: bool(begin.match(head)), what="a file of perturbed cases")


def _copy(original: Case, changed: str, perturbation: Perturbation, number: int, seed: int) -> Case:
    about = {"kind": perturbation.kind, "rate": perturbation.rate, "seed": seed}
    return original.model_copy(
        update={
            "id": f"{original.id}~{perturbation.kind}-{number}",
            "input": changed,
            "output": None,
            "baseline": original.output,
            "parent": original.id,
            "expected": {**original.expected, ORIGINAL: original.input},
            "metadata": {**_noted(original.metadata), "perturbation": about},
        }
    )


def _noted(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a case notes of itself, with its output noted as the baseline it becomes."""
    notes = metadata.get(ANSWERED)
    if not isinstance(notes, dict):
        return dict(metadata)
    moved = {"baseline": notes["output"]} if "output" in notes else {}
    return {**metadata, ANSWERED: moved}
