from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from judgekit.cassette.mode import RecordMode
from judgekit.core.errors import CassetteError, ConfigError, JudgekitError
from judgekit.core.judge_settings import JudgeSettings
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.price import ModelPrice
from judgekit.metrics.combine import Combined
from judgekit.metrics.fallback import WithFallback
from judgekit.metrics.rubric import RubricMetric
from judgekit.report.gate import Gate
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite
from judgekit.suite.suite import Suite, build_suite, load_suite

TABLE = Path(__file__).parents[1] / "data" / "wrong_suites.txt"
WRONG = re.findall(r"^##### (.+)\n((?s:.*?))\n##> (.+)$", TABLE.read_text("utf-8"), re.M)
ROWS = [
    {"id": "a", "input": "Why?", "output": "Because it is so.", "system": "Be brief."},
    {"id": "b", "input": "Who?", "output": "Ann of ann@example.com."},
]
SHORT = {"length": {"maximum": 9}}


@pytest.fixture
def suite(tmp_path):
    """Write a suite beside two cases and load it."""
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, ROWS)) + "\n", "utf-8")
    made = []

    def load(text, **overrides):
        path = tmp_path / "suite.yaml"
        path.write_text(text, encoding="utf-8")
        made.append(load_suite(path, Overrides(**overrides)))
        return made[-1]

    yield load
    for one in made:
        one.close()


def built(**data):
    return build_suite(data, base=Path())


# -- what is refused --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"), [pytest.param(*entry, id=name) for name, *entry in WRONG]
)
def test_a_wrong_suite_is_refused_with_file_and_line(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        load_suite("suite.yaml")

    line, colon, rest = message.partition(": ")
    place = f"suite.yaml:{line}" if colon and line.isdigit() else "suite.yaml"
    assert str(caught.value) == f"{place}: {rest if line.isdigit() else message}"


def test_the_table_is_read_whole():
    assert len(WRONG) == TABLE.read_text("utf-8").count("\n##### ") >= 40
    assert sum(message[0].isdigit() for *_, message in WRONG) >= 40


@pytest.mark.parametrize(
    ("name", "message"),
    [("none.yaml", "none.yaml: no such suite file"), (".", "is a folder; name the suite file")],
)
def test_a_suite_that_cannot_be_read_is_said(tmp_path, name, message):
    with pytest.raises(ConfigError, match=message):
        load_suite(tmp_path / name)


def test_a_suite_that_is_no_text_is_said(tmp_path):
    (tmp_path / "suite.yaml").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(ConfigError, match=r"suite\.yaml:1: is UTF-16; save the file as UTF-8"):
        load_suite(tmp_path / "suite.yaml")


def test_a_missing_file_of_answers_is_said_before_the_first_case(suite):
    with pytest.raises(ConfigError, match=r"none.jsonl: no such file of answers; check the path"):
        suite(
            "cases: cases.jsonl\njudge: {model: manual/me, answers: none.jsonl}\n"
            "metrics: {safety: }"
        )


def test_a_cassette_that_is_a_folder_is_said(suite):
    with pytest.raises(CassetteError, match="not a file"):
        suite("cases: cases.jsonl\njudge: fake/judge\ncassette: .\nmetrics: {safety: }")


def test_a_missing_rubric_file_is_named(suite, tmp_path):
    with pytest.raises(ConfigError, match=r"no/such.jinja: no such rubric file"):
        suite("judge: fake/judge\nmetrics: {mine: {rubric: no/such}}")


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: [" * 200, "{" * 200])
def test_a_suite_that_never_ends_is_refused(tmp_path, text):
    path = tmp_path / "suite.yaml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError):
        load_suite(path)


# -- spellings --------------------------------------------------------------------


def test_short_spellings_mean_the_long_ones():
    short = built(cases="c.jsonl", judge="fake/judge", redact=["[x]"], metrics={"safety": None})
    long = built(
        cases={"path": "c.jsonl"},
        judge={"model": "fake/judge"},
        redact=[{"pattern": "[x]", "replace": "[REDACTED]"}],
        metrics={"safety": {}},
    )

    assert short.file == long.file


def test_a_fallback_may_be_a_name_or_say_more():
    short = built(judge="fake/judge", metrics={"prompt_alignment": {"fallback": "alignment_rules"}})

    (metric,) = short.metrics
    assert isinstance(metric, WithFallback)
    assert (metric.name, metric.fallback.name) == ("prompt_alignment", "alignment_rules")


@pytest.mark.parametrize("judge", ["none", None])
def test_a_suite_may_want_no_judge(judge):
    suite = built(judge=judge, metrics={"prompt_alignment": {"mode": "user"}, **SHORT})

    assert suite.no_judge
    assert (suite.judge, suite.cassette) == (None, None)
    alignment, length = suite.metrics
    assert alignment.no_judge
    assert alignment.fallback.name == "alignment_rules"
    assert length.name == "length"


# -- metrics ----------------------------------------------------------------------


def test_a_metric_may_go_by_another_name():
    suite = built(
        judge="fake/judge",
        metrics={
            "short": {"metric": "length", "maximum": 9},
            "harmless": {"rubric": "safety", "samples": 3},
            "aligned": {"metric": "prompt_alignment", "mode": "user"},
            "quality": {},
        },
    )

    assert [metric.name for metric in suite.metrics] == ["short", "harmless", "aligned", "quality"]
    assert suite.metrics[1].samples == 3
    assert isinstance(suite.metrics[3], RubricMetric)


def test_a_part_of_a_combined_metric_does_not_run_by_itself():
    suite = built(
        judge="fake/judge",
        metrics={
            "words": {"metric": "length", "maximum": 9},
            "safety": {},
            "all": {"combine": "weighted_mean", "of": ["words", "safety"], "weights": [1, 3]},
        },
    )

    (metric,) = suite.metrics
    assert isinstance(metric, Combined)
    assert [part.name for part in metric.of] == ["words", "safety"]


def test_a_part_can_be_asked_for_by_itself():
    data = {"a": {"metric": "length", "maximum": 9}, "b": {"combine": "min", "of": ["a"]}}

    suite = build_suite({"metrics": data}, base=Path(), overrides=Overrides(only=["a"]))

    assert [metric.name for metric in suite.metrics] == ["a"]


def test_combined_metrics_can_be_combined():
    suite = built(
        metrics={
            "a": {"metric": "length", "maximum": 9},
            "b": {"combine": "min", "of": ["a"]},
            "c": {"combine": "max", "of": ["b", "a"]},
        }
    )

    assert [metric.name for metric in suite.metrics] == ["c"]


def test_a_rubric_is_found_beside_the_suite(suite, tmp_path):
    (tmp_path / "rubrics").mkdir()
    text = (
        "---\nname: tone\ncriteria:\n  a: {text: A.}\n---\n"
        "{{ criteria | length }} {{ case.input }}\n"
    )
    (tmp_path / "rubrics" / "tone.jinja").write_text(text, encoding="utf-8")

    loaded = suite(
        "judge: fake/judge\nmetrics: {tone: {samples: 2}, t: {rubric: rubrics/tone.jinja}}"
    )

    assert [metric.rubric.name for metric in loaded.metrics] == ["tone", "tone"]


def test_thresholds_and_gates_are_handed_on(suite):
    loaded = suite(
        "judge: fake/judge\nmetrics:\n  safety: {threshold: 1, gate: {mean: 0.5, pass_rate: 0.5}}\n"
        "  quality: {}\nlimits: {max_failures: 2, max_fallback: 3}"
    )

    assert loaded.thresholds == {"safety": 1.0}
    assert loaded.gates == (
        Gate(metric="safety", statistic="mean", bound=0.5),
        Gate(metric="safety", statistic="pass_rate", bound=0.5),
    )
    assert loaded.written_gates == {"safety": {"mean": 0.5, "pass_rate": 0.5}}
    assert loaded.limits[:2] == (2, 3)


def test_without_a_judge_gates_on_stand_ins_are_left_out(suite):
    loaded = suite(
        "judge: fake/judge\nmetrics:\n  prompt_alignment: {gate: {mean: 0.5}}\n"
        "  length: {maximum: 9, gate: {mean: 0.5}}",
        no_judge=True,
    )

    assert loaded.gates == (Gate(metric="length", statistic="mean", bound=0.5),)
    assert loaded.unchecked == ["prompt_alignment"]
    assert loaded.limits.max_fallback > 1_000_000


# -- judge ------------------------------------------------------------------------

HOSTED = """
judge:
  model: openai/gpt-6-luna
  api_key_env: MY_KEY
  api_base: http://localhost:1
  params: {temperature: 0, seed: 1}
  identity: really-x
  mode: tools
  timeout: 5
  price: {input: 1, output: 2}
metrics: {safety: }
"""


def judge_of(suite):
    return suite.cassette.judge.judge


def test_a_hosted_judge_gets_its_settings(suite, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-secret")

    judge = judge_of(suite(HOSTED))

    assert isinstance(judge, LiteLLMJudge)
    assert (judge.model, judge.timeout) == ("openai/gpt-6-luna", 5)
    assert judge.settings == JudgeSettings(
        identity="really-x", mode="tools", params={"temperature": 0, "seed": 1}
    )
    assert judge.price == ModelPrice(input=1, output=2)
    assert judge._calls.server.api_key == "sk-secret"


def test_a_key_never_shows(suite, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-secret")

    loaded = suite(HOSTED)

    assert "sk-secret" not in f"{judge_of(loaded)!r}{json.dumps(loaded.manifest())}"


def test_flags_go_before_the_file(suite, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-nothing")
    loaded = suite(
        HOSTED, params={"seed": 2, "top_p": 0.5}, api_base="http://localhost:2", record="all"
    )

    judge = judge_of(loaded)
    assert judge.settings.params == {"temperature": 0, "seed": 2, "top_p": 0.5}
    assert judge.api_base == "http://localhost:2"
    assert loaded.record is RecordMode.ALL


def test_another_model_takes_over_what_is_not_the_old_ones_own(suite):
    loaded = suite(HOSTED, judge="ollama_chat/qwen3:8b")

    judge = judge_of(loaded)
    assert judge.model == "ollama_chat/qwen3:8b"
    assert judge.settings == JudgeSettings(params={"temperature": 0, "seed": 1})
    assert (judge.api_base, judge.price) == (None, None)
    assert loaded.manifest()["judge"]["model"] == "ollama_chat/qwen3:8b"


@pytest.mark.parametrize(
    ("text", "overrides", "mode"),
    [
        ("judge: fake/judge", {}, "none"),
        ("judge: fake/judge\nrecord: new_episodes", {}, "new_episodes"),
        ("judge: fake/judge\nrecord: all", {"record": "none"}, "none"),
        ("judge: fake/judge", {"judge": "fake/other"}, "new_episodes"),
        ("judge: fake/judge", {"judge": "fake/other", "record": "none"}, "none"),
    ],
)
def test_naming_a_judge_on_the_command_line_is_permission_to_ask(suite, text, overrides, mode):
    assert suite(f"{text}\nmetrics: {{safety: }}", **overrides).record == mode


def test_a_judge_of_none_on_the_command_line_wants_nobody(suite):
    loaded = suite("judge: fake/judge\nmetrics: {prompt_alignment: }", judge="none")

    assert loaded.no_judge


def test_only_what_is_asked_for_is_run(suite):
    text = "judge: fake/judge\nmetrics: {safety: , quality: }"

    assert [m.name for m in suite(text, only=["quality"]).metrics] == ["quality"]
    with pytest.raises(ConfigError, match=r"--only safty: .*did you mean 'safety'"):
        suite(text, only=["safty"])


@pytest.mark.parametrize(
    ("price", "api_base", "refused"),
    [
        (None, None, False),
        (None, "http://localhost:1", True),
        ("{input: 1, output: 1}", None, False),
    ],
)
def test_a_cost_limit_needs_a_price(suite, price, api_base, refused):
    judge = "model: openai/gpt-6-luna"
    judge += f", price: {price}" if price else ""
    judge += f", api_base: '{api_base}'" if api_base else ""
    text = f"judge: {{{judge}}}\nmetrics: {{safety: }}\nlimits: {{max_cost: 1}}"

    if refused:
        with pytest.raises(ConfigError, match="max_cost needs the price"):
            suite(text, record="all")
    else:
        suite(text, record="all")
    suite(text)


# -- cases ------------------------------------------------------------------------


def ids(loaded):
    return [case.id for case in loaded.cases()]


def test_cases_are_found_beside_the_suite(suite, monkeypatch, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert ids(suite("cases: cases.jsonl\nmetrics: {length: {maximum: 9}}")) == ["a", "b"]


def test_cases_of_a_flag_are_found_from_where_one_stands(suite, monkeypatch, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "other.jsonl").write_text('{"id": "z"}\n', "utf-8")
    monkeypatch.chdir(tmp_path / "elsewhere")

    loaded = suite("cases: cases.jsonl\nmetrics: {length: {maximum: 9}}", cases="other.jsonl")

    assert ids(loaded) == ["z"]


@pytest.mark.parametrize(
    ("file", "flag", "expected"), [(1, None, ["a"]), (None, 1, ["a"]), (2, 1, ["a"]), (1, 9, ["a"])]
)
def test_the_lower_limit_counts(suite, file, flag, expected):
    limit = f", limit: {file}" if file else ""

    loaded = suite(
        f"cases: {{path: cases.jsonl{limit}}}\nmetrics: {{length: {{maximum: 9}}}}", limit=flag
    )

    assert ids(loaded) == expected


def test_fields_are_mapped(suite):
    loaded = suite(
        "cases: {path: cases.jsonl, fields: {output: input}}\nmetrics: {length: {maximum: 9}}"
    )

    assert [case.output for case in loaded.cases()] == ["Why?", "Who?"]


def test_a_suite_without_cases_loads_and_says_so_when_they_are_wanted():
    with pytest.raises(ConfigError, match="the suite names no cases"):
        built(metrics=SHORT).cases()


def test_cases_are_redacted_before_anything_sees_them(suite, tmp_path):
    loaded = suite(
        "cases: cases.jsonl\njudge: fake/judge\nrecord: all\ncassette: tape.jsonl\n"
        "redact: ['[a-z]+@[a-z.]+[a-z]']\nmetrics: {safety: }"
    )

    asyncio.run(run_suite(loaded, out=tmp_path / "out"))

    for file in ("tape.jsonl", "out/results.jsonl", "out/tape.jsonl", "out/report.json"):
        assert "ann@" not in (tmp_path / file).read_text("utf-8")
    assert "Ann of [REDACTED]." in (tmp_path / "out/results.jsonl").read_text("utf-8")


# -- manifest ---------------------------------------------------------------------


def test_the_manifest_says_what_decides_the_numbers_and_no_path(suite, tmp_path):
    loaded = suite("name: Mine\ncases: cases.jsonl\n" + HOSTED)

    manifest = loaded.manifest()

    assert manifest["suite"]["name"] == "Mine"
    assert manifest["judge"] == {
        "model": "openai/gpt-6-luna",
        "identity": "really-x",
        "params": {"temperature": 0, "seed": 1},
        "mode": "tools",
    }
    assert manifest["cases"] == {"path": "cases.jsonl"}
    assert str(tmp_path) not in json.dumps(manifest)


@pytest.mark.parametrize("overrides", [{"judge": "fake/other"}, {"no_judge": True}])
def test_a_notice_is_about_the_judge_of_the_file_only(suite, overrides):
    text = "notice: Made up.\njudge: fake/judge\nmetrics: {prompt_alignment: }"

    assert suite(text).manifest()["notice"] == "Made up."
    assert suite(text, **overrides).manifest()["notice"] is None


def test_a_gate_on_a_combination_of_stand_ins_is_left_out_too(suite):
    loaded = suite(
        "judge: fake/judge\nmetrics:\n  prompt_alignment: {}\n"
        "  all: {combine: mean, of: [prompt_alignment], gate: {mean: 0.5}}",
        no_judge=True,
    )

    assert isinstance(loaded, Suite)
    assert (loaded.gates, loaded.written_gates, loaded.unchecked) == ((), {}, ["all"])


def test_every_error_of_a_suite_is_ours(suite):
    with pytest.raises(JudgekitError):
        suite("metrics: {length: {maximum: 9}}\njudge: {model: fake/judge, answers: x}")


def test_a_key_that_is_not_set_matters_only_where_somebody_is_asked(suite, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    text = (
        "judge: {model: openai/x, api_base: 'http://127.0.0.1:1', api_key_env: NO_SUCH_KEY}\n"
        "metrics: {quality: }\n"
    )

    with pytest.raises(ConfigError, match="NO_SUCH_KEY is not set"):
        suite(text, record="new_episodes")

    assert suite(text).metrics


def test_a_part_with_a_gate_of_its_own_is_run_by_itself_as_well(suite):
    loaded = suite(
        "metrics:\n  a: {metric: length, maximum: 9, gate: {mean: 0.5}}\n"
        "  b: {metric: length, maximum: 5}\n  both: {of: [a, b]}\n"
    )

    assert [metric.name for metric in loaded.metrics] == ["a", "both"]


@pytest.mark.parametrize("bound", ["threshold: 8", "gate: {mean: 7}", "gate: {min: -1}"])
def test_a_bound_no_value_can_reach_is_refused(suite, bound):
    with pytest.raises(ConfigError, match=r"suite\.yaml:2: .*outside the values of 'a', 0 to 1"):
        suite(f"metrics:\n  a: {{metric: length, maximum: 9, {bound}}}\n")


def test_gates_nobody_can_check_are_named(suite):
    loaded = suite("metrics:\n  prompt_alignment: {gate: {mean: 0.5}}\n", no_judge=True)

    assert loaded.manifest()["gates_not_checked"] == ["prompt_alignment"]


def test_a_rubric_is_looked_up_beside_the_suite_and_not_where_somebody_stands(
    suite, tmp_path, monkeypatch
):
    elsewhere = tmp_path / "elsewhere" / "rubrics"
    elsewhere.mkdir(parents=True)
    (elsewhere / "prompt_alignment.jinja").write_text("not a rubric", encoding="utf-8")
    monkeypatch.chdir(elsewhere.parent)

    loaded = suite("judge: fake/j\nmetrics: {prompt_alignment: }\n")

    found = loaded.metrics[0].rubric.path
    assert found.parent.name == "rubrics"
    assert found.parent != elsewhere


@pytest.mark.parametrize(
    ("limit", "most", "value"),
    [
        ("rpm", "1,000,000,000", "-1"),
        ("concurrency", "4,096", "'fast'"),
        ("tpm", "1,000,000,000,000", "0.5"),
        ("concurrency", "4,096", "True"),
    ],
)
def test_limit_is_a_number_or_auto(tmp_path: Path, limit: str, most: str, value: str) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(f"metrics: {{length: {{maximum: 5}}}}\nlimits:\n  {limit}: {value}\n")

    with pytest.raises(ConfigError) as caught:
        load_suite(suite)

    rule = f"must be a whole number from 1 to {most}, or auto (it is {value})"
    assert str(caught.value) == f"{suite}:3: limits.{limit}: {rule}"
