"""`judgekit rubric diff`: what changed, which recorded verdicts flip, which need asking again."""

from __future__ import annotations

import json
import subprocess

import pytest

from judgekit.authoring.rubric_diff.effects import effects_on
from judgekit.authoring.rubric_diff.text import changes
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.safety_and_quality.harm import Toxicity
from judgekit.rubric.load import load_rubric
from judgekit.runner.evaluation import evaluate_sync
from tests.cli.conftest import judgekit, one_line

__all__ = ["judgekit"]

OLD = """\
---
name: kind
extends: base
description: Is the answer kind?
requires: [output]
criteria:
  tone: {weight: 0.5, text: Is it kind?, levels: {warm: 1, cool: 0.5, rude: 0}}
  short: {weight: 0.25, text: Is it short?, kind: boolean}
  useful: {weight: 0.25, text: Is it of use?, nullable: true}
---
"""
CASES = {"all": ("warm", True, 1.0), "some": ("cool", False, 0.5), "none": ("rude", True, None)}
OTHER_WEIGHTS = [
    ("{weight: 0.5", "{weight: 0.2"),
    ("{weight: 0.25, text: Is it s", "{weight: 0.55, text: Is it s"),
]
VALUES = {"all": 1.0, "some": 0.375, "none": 0.25 / 0.75}


@pytest.fixture
def run(tmp_path, monkeypatch, judgekit):
    """A run of three cases, in the folder to stand in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.jinja").write_text(OLD, "utf-8")
    rows = [{"id": id, "input": "Hm?", "output": f"So it is, {id}."} for id in CASES]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    said = [
        {"case": id, "metric": metric, "answers": {
            "tone": {"reason": "Read.", "value": tone},
            "short": {"reason": "Counted.", "value": short},
            "useful": {"reason": "Tried.", "value": useful},
        }}
        for id, (tone, short, useful) in CASES.items() for metric in ("kindness", "thrice")
    ]  # fmt: skip
    (tmp_path / "said.jsonl").write_text("\n".join(map(json.dumps, said)) + "\n", "utf-8")
    (tmp_path / "suite.yaml").write_text(
        "cases: cases.jsonl\njudge: {model: manual/me, answers: said.jsonl}\ncassette: tape.jsonl\n"
        "metrics:\n  kindness: {rubric: old.jinja, threshold: 0.35, fallback: {use: length, "
        "maximum: 9}}\n  length: {maximum: 9}\n",
        "utf-8",
    )
    done = judgekit("run", "suite.yaml", "--record", "new_episodes", "--out", "out")
    assert done.code == 0, done.err
    return tmp_path


def canonical(row):
    return json.dumps(row, separators=(",", ":"))


def newer(run, *replaced, name="new.jinja"):
    text = OLD
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    (run / name).write_text(text, "utf-8")
    return name


def effects(run, *replaced, **wanted):
    new = load_rubric(newer(run, *replaced))
    return effects_on(run / "out", old=load_rubric("old.jinja"), new=new, **wanted)


# -- what changed -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("replaced", "line"),
    [
        (("Is it kind?", "Is it gentle?"), "~ criterion tone: text Is it kind? -> Is it gentle?"),
        (("weight: 0.5", "weight: 0.50"), None),
        (("cool: 0.5", "cool: 0.25"), "~ criterion tone: level cool 0.5 -> 0.25"),
        (("cool: 0.5, ", ""), "~ criterion tone: level cool 0.5 -> none"),
        (("kind: boolean", "kind: boolean, reverse: true"),
         "~ criterion short: reverse false -> true"),
        ((", nullable: true", ""), "~ criterion useful: nullable true -> false"),
        (("requires: [output]", "requires: [input, output]"),
         "~ rubric: requires output -> input, output"),
        (("requires: [output]", "requires: [output]\ncombine: min"),
         "~ rubric: combine weighted_mean -> min"),
        (("requires: [output]", "requires: [output]\nversion: 2"), "~ rubric: version 1 -> 2"),
        (("short: {weight: 0.25, text: Is it short?", "brief: {weight: 0.25, text: Is it brief?"),
         "- criterion short: Is it short?"),
        (("short: {weight: 0.25, text: Is it short?", "brief: {weight: 0.25, text: Is it brief?"),
         "+ criterion brief: Is it brief?"),
        (("---\n", "---\n{% block task %}Be stern.{% endblock %}\n"), None),
        (("criteria:", "details: {note: A word.}\ncriteria:"), "+ detail note: A word."),
    ],
)  # fmt: skip
def test_a_change_is_named(run, judgekit, replaced, line):
    if "{% block" in replaced[1]:
        (run / "new.jinja").write_text(OLD + replaced[1].removeprefix("---\n"), "utf-8")
        line = "~ template: lines removed 0, added 1"
    else:
        newer(run, replaced)

    out = judgekit("rubric", "diff", "old.jinja", "new.jinja").out

    assert out.startswith("old.jinja -> new.jinja\n")
    assert f"  {line or 'no change in requests or values'}\n" in out


def test_changed_modes_groups_parameters_and_examples_are_named(run):
    front = (
        "---\nname: both\nextends: base\ndescription: D.\nTOP\ncriteria:\n"
        "  talk.short: {text: Short?}\n  air.tone: {text: Kind?}\n---\n"
    )
    before = "modes: {both: {talk: 0.7, air: 0.3}}"
    after = (
        "modes: {both: {talk: 0.6, air: 0.4}, one: {air: 1.0}}\ndefault_mode: both\n"
        "groups: {talk: {requires: [input]}}\nparameters: {who: {kind: text, default: all}}\n"
        "examples:\n  - {case: {output: x}, answers: {}}"
    )
    body = "{% block closing %}{{ parameters.who }}{% endblock %}\n"
    (run / "a.jinja").write_text(front.replace("TOP", before), "utf-8")
    (run / "b.jinja").write_text(front.replace("TOP", after) + body, "utf-8")
    old, new = load_rubric("a.jinja"), load_rubric("b.jinja")

    found = {(change.sign, change.what, change.field) for change in changes(old, new)}

    assert {
        ("~", "mode both", "talk"), ("~", "mode both", "air"), ("+", "mode one", ""),
        ("+", "group talk", ""), ("+", "parameter who", ""), ("~", "rubric", "examples"),
    } <= found  # fmt: skip


# -- what it does to verdicts -------------------------------------------------------


def test_the_same_rubric_changes_nothing(run):
    (found,) = effects(run)

    assert [(e.case, e.fate) for e in found.effects] == [(id, "same") for id in CASES]
    assert {e.case: e.old for e in found.effects} == pytest.approx(VALUES)
    assert {e.case: e.new for e in found.effects} == pytest.approx(VALUES)
    assert (found.metric, found.threshold, found.calls, found.foreign) == ("kindness", 0.35, 0, 0)


@pytest.mark.parametrize(
    ("replaced", "values", "flips"),
    [
        (OTHER_WEIGHTS,
         {"all": 1.0, "some": 0.1 + 0.125, "none": 0.55 / 0.75},
         {"some": "pass -> fail", "none": "fail -> pass"}),
        ([("cool: 0.5", "cool: 0.25")], {"all": 1.0, "some": 0.25, "none": 1 / 3},
         {"some": "pass -> fail"}),
        ([("requires: [output]", "requires: [output]\ncombine: max")],
         {"all": 1.0, "some": 0.5, "none": 1.0}, {"none": "fail -> pass"}),
        ([("kind: boolean", "kind: boolean, reverse: true")],
         {"all": 0.75, "some": 0.625, "none": 0.0}, {}),
    ],
)  # fmt: skip
def test_verdicts_of_the_same_request_are_folded_again(run, replaced, values, flips):
    (found,) = effects(run, *replaced)

    assert {e.case: e.new for e in found.effects} == pytest.approx(values)
    assert {e.case: e.flip for e in found.flips} == flips
    assert found.calls == 0
    assert found.mean_old == pytest.approx(sum(VALUES.values()) / 3)
    assert found.mean_new == pytest.approx(sum(values.values()) / 3)


def test_folding_again_gives_what_a_run_would_give(run, judgekit):
    (found,) = effects(run, ("cool: 0.5", "cool: 0.125"), *OTHER_WEIGHTS)
    suite = (run / "suite.yaml").read_text("utf-8")
    (run / "suite.yaml").write_text(suite.replace("old.jinja", "new.jinja"), "utf-8")

    assert judgekit("run", "suite.yaml", "--out", "again").code == 0

    rows = [json.loads(line) for line in (run / "again/results.jsonl").read_text().splitlines()]
    ran = {r["case"]: r["result"]["value"] for r in rows if r.get("metric") == "kindness"}
    assert {e.case: e.new for e in found.effects} == ran


def test_a_verdict_of_another_request_is_asked_again_and_never_guessed(run):
    (found,) = effects(run, ("Is it kind?", "Is it gentle?"))

    assert [(e.fate, e.new, e.flip) for e in found.effects] == [("ask", None, None)] * 3
    assert (found.calls, found.mean_old, found.mean_new) == (3, None, None)
    assert found.characters > 1000


def test_only_the_cases_whose_request_differs_are_asked_again(run):
    (run / "new.jinja").write_text(
        OLD + "{% block closing %}{% if 'none' in case.output %}Think.{% else %}{{ super() }}"
        "{% endif %}{% endblock %}\n",
        "utf-8",
    )
    old, new = load_rubric("old.jinja"), load_rubric("new.jinja")

    (found,) = effects_on(run / "out", old=old, new=new)

    fates = {e.case: e.fate for e in found.effects}
    assert fates == {"all": "same", "some": "same", "none": "ask"}


def test_a_case_the_new_version_refuses_is_said(run):
    (found,) = effects(run, ("requires: [output]", "requires: [system, output]"))

    assert [e.fate for e in found.effects] == ["refused"] * 3
    assert "'system'" in found.effects[0].note


def test_several_samples_are_folded_together(run, judgekit):
    suite = (run / "suite.yaml").read_text("utf-8")
    (run / "suite.yaml").write_text(suite.replace("kindness: {", "thrice: {samples: 3, "), "utf-8")
    assert judgekit("run", "suite.yaml", "--record", "new_episodes", "--out", "out").code == 0

    (same,) = effects(run, ("cool: 0.5", "cool: 0.25"))
    (asked,) = effects(run, ("Is it kind?", "Is it gentle?"))

    assert {e.case: e.new for e in same.effects} == pytest.approx(VALUES | {"some": 0.25})
    assert asked.calls == 9


def test_failures_and_stand_ins_are_no_verdicts(run):
    results = run / "out" / "results.jsonl"
    lines = results.read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines[1:]]
    kind = [row for row in rows if row.get("metric") == "kindness"]
    key = kind[0]["result"]["judgments"][0]["request_key"]
    kind[0]["result"] = {"type": "failure", "kind": "refused", "message": "no", "key": key}
    kind[1]["result"] = {"type": "failure", "kind": "unavailable", "message": "down", "key": key}
    kind[2]["result"]["fallback"] = {"substitute": "length", "cause": "unavailable"}
    results.write_text("\n".join([lines[0], *map(canonical, rows)]) + "\n", "utf-8")

    (found,) = effects(run)

    assert [(e.case, e.fate) for e in found.effects] == [
        ("all", "failed"), ("some", "ask"), ("none", "ask")
    ]  # fmt: skip
    assert found.calls == 2


def test_results_of_another_version_are_recognised(run, judgekit):
    newer(run, ("Is it kind?", "Is it gentle?"))

    out = judgekit("rubric", "diff", "new.jinja", "old.jinja", "--results", "out").out

    assert "3 verdicts are of another version" in out
    assert "same request: 3, 0 of them with a new value" in out


def test_a_metric_that_makes_something_else_of_the_value_is_refused(tmp_path):
    metric = Toxicity(judge=FakeJudge())
    evaluate_sync([Case(id="a", output="x")], [metric], out=tmp_path / "out")
    rubric = load_rubric("toxicity")

    with pytest.raises(ConfigError, match="the value of toxicity is 1 - the rubric's, so its"):
        effects_on(tmp_path / "out", old=rubric, new=rubric)


# -- what is said -------------------------------------------------------------------


def test_the_text_names_flips_first_and_what_to_ask(run, judgekit):
    newer(run, ("cool: 0.5", "cool: 0.25"))

    out = judgekit("rubric", "diff", "old.jinja", "new.jinja", "--results", "out").out

    assert out == (
        "old.jinja -> new.jinja\n"
        "  ~ criterion tone: level cool 0.5 -> 0.25\n"
        "kindness: 3 recorded verdicts, threshold 0.35\n"
        "  same request: 3, 1 of them with a new value\n"
        "    mean 0.569 -> 0.528\n"
        "    flips: 1\n"
        "    some  0.375 -> 0.250  pass -> fail\n"
        "  to send again: 0\n"
    )


def test_the_pass_line_can_be_another(run, judgekit):
    newer(run, ("cool: 0.5", "cool: 0.25"))
    args = ["rubric", "diff", "old.jinja", "new.jinja", "--results", "out"]

    assert "flips: 0" in judgekit(*args, "--threshold", "0.2").out


def test_the_outcome_can_be_had_as_json(run, judgekit):
    newer(run, ("Is it kind?", "Is it gentle?"))

    done = judgekit("rubric", "diff", "old.jinja", "new.jinja", "--results", "out", "--json")
    data = json.loads(done.out)

    assert done.code == 0
    assert data["changes"] == [{
        "what": "criterion tone", "field": "text", "old": "Is it kind?", "new": "Is it gentle?",
    }]  # fmt: skip
    (kindness,) = data["results"]
    assert (kindness["metric"], kindness["calls"], kindness["flips"]) == ("kindness", 3, 0)
    assert [effect["case"] for effect in kindness["effects"]] == list(CASES)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["old.jinja", "none.jinja"], "none.jinja: no such rubric file"),
        (["old.jinja", "old.jinja", "--results", "none"], "none: not a run folder"),
        (["old.jinja", "old.jinja", "--results", "out", "--metric", "kindnes"],
         "out: no metric 'kindnes'; did you mean 'kindness'?"),
        (["safety", "safety", "--results", "out"], "out: no metric by rubric 'safety'"),
        (["git:HEAD", "old.jinja"], "write it as git:REVISION:rubrics/NAME.jinja"),
        (["git:--help:old.jinja", "old.jinja"], "write it as git:REVISION"),
        (["old.jinja", "base"], "is abstract"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(run, judgekit, args, message):
    assert message in one_line(judgekit("rubric", "diff", *args))


@pytest.mark.parametrize("damage", ["answer", "criterion", "missing"])
def test_results_somebody_changed_are_one_line(run, judgekit, damage):
    results = run / "out" / "results.jsonl"
    text = results.read_text("utf-8")
    changed = {
        "answer": text.replace('"answer":"cool"', '"answer":"icy"'),
        "criterion": text.replace('"id":"tone"', '"id":"tune"'),
        "missing": text.replace('"parts":[{', '"parts":[],"details":{"x":[{').replace(
            '}],"reason"', '}]},"reason"'
        ),
    }[damage]
    assert changed != text
    results.write_text(changed, "utf-8")
    newer(run, ("cool: 0.5", "cool: 0.25"))

    done = judgekit("rubric", "diff", "old.jinja", "new.jinja", "--results", "out")

    assert "do not match" in one_line(done) or "not a result" in done.err


# -- a version of a commit ------------------------------------------------------------


@pytest.fixture
def repository(run):
    """The same folder as a repository with the old rubric committed in rubrics/."""

    def git(*args):
        subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", *args],
            cwd=run, check=True, capture_output=True,
        )  # fmt: skip

    (run / "rubrics").mkdir()
    (run / "rubrics/_words.jinja").write_text("{% macro m() %}Hm.{% endmacro %}", "utf-8")
    imports = '{% from "_words.jinja" import m %}{% block closing %}{{ m() }}{% endblock %}\n'
    (run / "rubrics/kind.jinja").write_text(OLD + imports, "utf-8")
    git("init", "-q")
    git("add", "rubrics")
    git("commit", "-qm", "one")
    (run / "rubrics/kind.jinja").write_text(OLD.replace("Is it kind?", "Gentle?") + imports)
    (run / "rubrics/_words.jinja").write_text("{% macro m() %}Well.{% endmacro %}", "utf-8")
    return run


def test_a_rubric_is_compared_with_that_of_a_commit(repository, judgekit):
    out = judgekit("rubric", "diff", "git:HEAD:rubrics/kind.jinja", "rubrics/kind.jinja").out

    assert out == (
        "git:HEAD:rubrics/kind.jinja -> rubrics/kind.jinja\n"
        "  ~ criterion tone: text Is it kind? -> Gentle?\n"
        "  ~ template _words.jinja: lines removed 1, added 1\n"
    )


def test_a_revision_or_file_that_is_not_there_is_one_line(repository, judgekit, tmp_path):
    file = "rubrics/kind.jinja"

    assert "git: fatal" in one_line(judgekit("rubric", "diff", f"git:none:{file}", file))
    missing = one_line(judgekit("rubric", "diff", "git:HEAD:rubrics/no.jinja", file))
    assert missing == (
        "git:HEAD:rubrics/no.jinja: HEAD has no file rubrics/no.jinja; "
        "`git ls-tree -r HEAD` lists them"
    )


def test_examples_from_a_labelled_file_are_those_of_the_commit(repository, judgekit):
    answers = {
        "tone": {"reason": "R.", "value": "warm"}, "short": {"reason": "R.", "value": True},
        "useful": {"reason": "R.", "value": 1.0},
    }  # fmt: skip
    labelled = {"case": {"output": "Yes."}, "answers": answers, "rubric": "kind"}
    front = OLD.replace("criteria:", "examples: {file: data/labels.jsonl, count: 1}\ncriteria:")
    (repository / "rubrics/data").mkdir()
    file = repository / "rubrics/data/labels.jsonl"
    (repository / "rubrics/kind.jinja").write_text(front, "utf-8")
    file.write_text(json.dumps(labelled) + "\n", "utf-8")
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "add", "rubrics"], cwd=repository, check=True)
    subprocess.run([*git, "commit", "-qm", "two"], cwd=repository, check=True)
    file.write_text(json.dumps(labelled).replace("Yes.", "Certainly.") + "\n", "utf-8")

    out = judgekit("rubric", "diff", "git:HEAD:rubrics/kind.jinja", "rubrics/kind.jinja").out

    assert "~ rubric: examples" in out, out
    assert out.index("Yes.") < out.index("Certainly.")
