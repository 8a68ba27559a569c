"""The flags that override a suite, and what each declares."""

from __future__ import annotations

from typing import Annotated

import pytest

from judgekit.core.file_model import FileModel
from judgekit.suite.overrides import EFFECTS, Affects, FlagEffect, Overrides, effects_of


def test_a_field_without_an_effect_is_refused():
    class Forgotten(FileModel):
        judge: Annotated[str | None, FlagEffect(Affects.NUMBERS)] = None
        max_rows: int | None = None

    with pytest.raises(TypeError, match=r"Forgotten\.max_rows: declare one FlagEffect"):
        effects_of(Forgotten)


def test_only_given_flags_count():
    nothing, some = Overrides(), Overrides(only=["a"], limit=3, max_failures=0, record="none")

    assert nothing.given() == {}
    assert some.given(Affects.NUMBERS) == {"only": ["a"]}
    assert some.given(Affects.EXIT_CODE, Affects.CASES) == {"limit": 3, "max_failures": 0}


@pytest.mark.parametrize(
    "flags",
    [{"only": ["a"]}, {"where": ["a=b"]}, {"ids": frozenset()}, {"limit": 1}, {"shard": "1/2"}],
)
def test_a_selection_is_partial(flags):
    assert Overrides.model_validate(flags).partial


def test_no_other_flag_is_partial():
    rest = {name for name, effect in EFFECTS.items() if not effect.selects}

    assert not Overrides(cases="other.jsonl", judge="fake/a", max_failures=1).partial
    assert {"cases", "format", "against", "baseline"} < rest
