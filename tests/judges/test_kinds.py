"""The table of the kinds of judges, and the kinds that packages add."""

from __future__ import annotations

import sys

import pytest

from judgekit.core.errors import ConfigError
from judgekit.judges import kinds
from judgekit.judges.kinds import HOSTED, KINDS, JudgeKind, JudgeSetup, kind_of, open_judge
from judgekit.judges.named import judge_of
from judgekit.judges.provider_names import KNOWN_PROVIDERS

MODULE = """
from dataclasses import replace

from judgekit.judges.fake import FakeJudge
from judgekit.judges.kinds import FAKE, JudgeKind, JudgeSetup

def opened(setup):
    return FakeJudge(model=setup.model)

CROWD = replace(FAKE, name="crowd", person=True, in_replay=False, keys=frozenset({"identity"}),
                ignores=frozenset(), open=opened)
OTHER = object()
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Installs a package with entry points, each NAME=TARGET in the module of `MODULE`."""

    def install(*points, name="crowds"):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n", "utf-8"
        )
        lines = [f"{point.replace('=', f' = {name}_judges:')}\n" for point in points]
        (info / "entry_points.txt").write_text(f"[{kinds.GROUP}]\n{''.join(lines)}", "utf-8")
        (tmp_path / f"{name}_judges.py").write_text(MODULE, "utf-8")
        monkeypatch.delitem(sys.modules, f"{name}_judges", raising=False)

    monkeypatch.syspath_prepend(str(tmp_path))
    kinds._offered.cache_clear()
    yield install
    kinds._offered.cache_clear()


def test_the_table_has_every_kind_under_a_name_of_its_own():
    defined = [kind for kind in vars(kinds).values() if isinstance(kind, JudgeKind)]

    assert list(KINDS.values()) == defined
    assert not set(KINDS) & KNOWN_PROVIDERS


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name or "hosted")
def test_every_kind_opens_and_decides_on_every_part_of_a_key(kind):
    assert callable(kind.opener())
    assert not kind.keys & kind.ignores
    assert kind_of(f"{kind.prefix}x") is kind


@pytest.mark.parametrize("model", ["gpt-4o", "openai/x", "acme/x", "", "/x", "manual"])
def test_other_model_strings_are_hosted_models(model):
    assert kind_of(model) is HOSTED


def test_a_decision_that_is_left_out_is_an_error():
    with pytest.raises(TypeError, match="person"):
        JudgeKind(name="x", about="x", terminal=False, server=False, metered=False)


def test_a_package_adds_a_kind(package):
    package("crowd=CROWD")

    assert kind_of("crowd/ann").person
    assert judge_of("crowd/ann").model == "crowd/ann"
    assert "crowd" in kinds.kind_names()


def test_a_replay_opens_no_judge_that_it_does_not_need(package):
    package("crowd=CROWD")
    setup = JudgeSetup(model="crowd/ann", settings={"identity": "v2"}, asking=False)

    judge = open_judge(setup)

    assert type(judge).__name__ == "AbsentJudge"
    assert (judge.model, judge.settings.identity) == ("crowd/ann", "v2")


def test_a_setting_without_effect_is_an_error(package):
    package("crowd=CROWD")

    with pytest.raises(ConfigError, match="crowd/ann takes no params; remove them"):
        open_judge(JudgeSetup(model="crowd/ann", settings={"params": {"seed": 1}}))


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ("crowd=MISSING", r"kind of judge 'crowd' of crowds_judges:MISSING \(crowds\) cannot be"),
        ("crowd=OTHER", "is a object; the target is a JudgeKind"),
        ("mob=CROWD", "has the name 'crowd'; the entry point needs the same name"),
    ],
)
def test_a_kind_that_cannot_be_used_is_an_error(package, point, message):
    package(point)

    with pytest.raises(ConfigError, match=message):
        kind_of(f"{point.partition('=')[0]}/x")


def test_two_packages_cannot_offer_the_same_kind(package):
    package("crowd=CROWD")
    package("crowd=CROWD", name="mobs")

    with pytest.raises(ConfigError, match="several packages offer a kind of judge named 'crowd'"):
        kind_of("crowd/x")


def test_a_name_that_is_taken_is_reported(package):
    package("openai=CROWD", "manual=CROWD")

    assert kind_of("openai/x") is HOSTED
    assert [line.split("; ")[0] for line in kinds.misnamed_kinds()] == [
        "crowds offers a kind of judge named 'openai'",
        "crowds offers a kind of judge named 'manual'",
    ]
