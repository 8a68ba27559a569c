from __future__ import annotations

import asyncio
import shutil

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.score import Score
from judgekit.datasets import load_cases
from judgekit.judges.fake import FakeJudge
from judgekit.metrics import registry
from judgekit.metrics.cards import card_of
from judgekit.metrics.catalogue import BUILTIN, STAND_INS
from judgekit.metrics.registry import create_metric, metric, metric_names
from judgekit.rubric.library import rubric_names
from judgekit.suite.run import run_suite_sync
from tests.each import each

PERSONA = {"exemplars": ["x y z"], "traits": {"verbosity": "concise"}}
OPTIONS = {
    "length": {"maximum": 9},
    "contains": {"all_of": ["x"]},
    "regex": {"pattern": "x"},
    **{
        name: {"persona": PERSONA}
        for name in ("authenticity", "authenticity_judge", "brand_voice", "brand_voice_rules")
    },
}
OPTIONS |= {"task": {"benchmark": "gsm8k"}}
OPTIONS |= {
    name: {"positive_examples": ["x"], "negative_examples": ["y"]}
    for name in ("personalization", "personalization_rules", "contrastive_alignment")
} | {"tone_compliance": {"exemplars": ["x"]}}
CASE = Case(
    id="c",
    system="s",
    history=[{"role": "user", "content": "h"}],
    input="q",
    steps=[{"role": "assistant", "content": "t"}],
    output="x",
    reference="x",
    context="x",
)


def made(name, /, **more):
    options = dict(OPTIONS.get(name, {}))
    if name in BUILTIN and name not in OPTIONS:
        options = dict(card_of(name).example.options)
    if name not in BUILTIN or BUILTIN[name].judged:
        options["judge"] = FakeJudge()
    return create_metric(name, **options, **more)


@pytest.mark.parametrize("name", sorted({*BUILTIN, *rubric_names()} - {"base"}))
def test_every_name_makes_a_metric_that_scores(name):
    if name == "code" and not shutil.which("bwrap"):
        pytest.skip("NOT TESTED: the sandbox needs bubblewrap (apt-get install bubblewrap)")
    metric = made(name)
    card = card_of(name)
    case = next(load_cases([{"id": "c", **card.example.case}])) if card else CASE

    score = asyncio.run(metric.score(case))

    assert metric.name == name
    low, high = metric.range
    assert score.value is None or low <= score.value <= high
    assert isinstance(metric.higher_is_better, bool)


@each("name", sorted({*BUILTIN, "safety"}))
def test_every_metric_takes_a_name(name):
    assert made(name, name="mine").name == "mine"


def test_the_names_are_sorted_and_leave_the_abstract_rubric_out():
    names = metric_names()

    assert names == sorted(set(names))
    assert {*BUILTIN, "quality", "safety"} <= set(names)
    assert "base" not in names


def test_stand_ins_are_computed_metrics_for_judged_ones():
    for judged, computed in STAND_INS.items():
        assert BUILTIN[judged].judged
        assert not BUILTIN[computed].judged


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("lenght", {}, "no metric named 'lenght'; did you mean 'length'?"),
        ("base", {}, "no metric named 'base'"),
        ("length", {"maximun": 3}, "takes no option 'maximun'; did you mean 'maximum'?"),
        ("prompt_alignment", {}, "metric 'prompt_alignment' needs a judge"),
        ("safety", {}, "metric 'safety' needs a judge"),
        ("safety", {"judge": FakeJudge(), "moed": 1}, "no option 'moed'; did you mean 'mode'?"),
        ("regex", {}, "metric 'regex' needs the option 'pattern'"),
    ],
)  # fmt: skip
def test_a_wrong_name_or_option_is_said_with_its_neighbour(name, options, message):
    with pytest.raises(ConfigError) as caught:
        create_metric(name, **options)

    assert message in str(caught.value)


class Point:
    """An entry point, as importlib.metadata gives them."""

    value = "plug:made"
    package = "polite"

    def __init__(self, name, load):
        self.name = name
        self.load = load


class Polite:
    name = "polite"
    range = (0.0, 1.0)
    higher_is_better = True

    def __init__(self, judge=None, word="please"):
        self.judge = judge
        self.word = word

    async def score(self, case):
        return Score(value=float(self.word in case.output))


def test_a_plugin_is_loaded_by_name_only_when_wanted(monkeypatch):
    loaded = []
    points = [
        Point("polite", lambda: loaded.append("polite") or Polite),
        Point("other", lambda: loaded.append("other")),
    ]
    monkeypatch.setattr(registry, "offers", lambda group: points)

    assert "polite" in metric_names()
    assert loaded == []

    assert create_metric("polite", judge=FakeJudge(), word="bitte").word == "bitte"
    assert loaded == ["polite"]


def test_a_plugin_that_fails_is_a_loud_error(monkeypatch):
    def broken():
        raise ImportError("no module named plug")

    monkeypatch.setattr(registry, "offers", lambda group: [Point("polite", broken)])

    with pytest.raises(ConfigError, match="'polite' of plug:made cannot be loaded: no module"):
        create_metric("polite")


def registered(name="custom", value=0.5):
    @metric(name)
    def custom(case):
        return value

    return custom


def test_a_decorated_function_is_created_by_its_name():
    custom = registered()

    assert create_metric("custom") is custom
    assert create_metric("custom", name="mine").name == "mine"
    assert "custom" in metric_names()


def test_a_suite_of_this_process_finds_a_decorated_function(tmp_path):
    registered("custom", value=0.25)
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "cases: cases.jsonl\nmetrics:\n  custom: {threshold: 0.2}\n  mine: {metric: custom}\n"
    )
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "output": "x"}\n')

    report = run_suite_sync(suite)

    assert [report.metrics[name].mean for name in ("custom", "mine")] == [0.25, 0.25]


def test_the_same_function_defined_again_replaces_its_earlier_definition():
    registered(value=0.0)
    again = registered(value=1.0)

    assert create_metric("custom") is again


def other(case):
    return 1.0


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("custom", "test_registry.registered.<locals>.custom"),
        ("length", "a built-in metric"),
        ("safety", "a built-in rubric"),
    ],
)
def test_a_name_is_registered_once(name, owner):
    registered()

    with pytest.raises(ConfigError) as caught:
        metric(name)(other)

    assert f"the name {name!r} belongs to " in str(caught.value)
    assert owner in str(caught.value)
    assert str(caught.value).endswith("test_registry.other another name")


def test_one_module_under_two_names_registers_once():
    code = compile("def custom(case):\n    return 1.0\n", "custom.py", "exec")
    for module in ("__main__", "package.custom"):
        scope = {"__name__": module}
        exec(code, scope)
        metric("custom")(scope["custom"])

    assert create_metric("custom").function.__module__ == "package.custom"


def test_a_name_of_this_process_and_of_a_package_is_an_error(monkeypatch):
    custom = registered()
    points = [Point("custom", lambda: Polite)]
    monkeypatch.setattr(registry, "offers", lambda group: points)

    with pytest.raises(ConfigError, match="two metrics are named 'custom': plug:made of polite,"):
        create_metric("custom")
    points[0].load = lambda: custom
    assert create_metric("custom") is custom
