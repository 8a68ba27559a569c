"""The table of synonyms: each row has a source, and suggests names that exist."""

import inspect

import typer.main

import judgekit
from judgekit.cli.app import app
from judgekit.core.synonyms import TABLE, synonym
from judgekit.core.yaml_file import parse_yaml
from judgekit.report.export.export import FORMATS
from judgekit.report.gate import STATISTICS
from judgekit.rubric.file import CriterionFile, RubricFile
from judgekit.rubric.fold import WAYS
from judgekit.suite.file import CasesFile, MetricFile, SuiteFile
from judgekit.suite.judge_file import JudgeFile
from tests.docs.test_named import commands as walk

ROWS = parse_yaml(TABLE.read_text("utf-8"), file=TABLE.name)[0]["words"]

PUBLIC = (
    *(judgekit.evaluate, judgekit.score, judgekit.load_cases, judgekit.answer_cases),
    *(judgekit.LiteLLMJudge, judgekit.LimitedJudge, judgekit.RubricMetric),
)


def _names():
    group = typer.main.get_command(app)
    commands = {name: group.get_command(None, name) for name in group.list_commands(None)}
    every = [command for _, command in walk(group)]
    flags = {o for one in every for p in one.params for o in p.opts}
    return {
        "command": set(commands),
        "subcommand": {one.name for _, one in walk(group)},
        "flag": flags,
        "suite": set(SuiteFile.model_fields),
        "judge": set(JudgeFile.model_fields),
        "metric": set(MetricFile.model_fields),
        "gate": set(STATISTICS),
        "rubric": set(RubricFile.model_fields),
        "criterion": set(CriterionFile.model_fields),
        "kind": {"score", "levels", "number", "boolean", "choice", "checklist"},
        "combine": set(WAYS),
        "cases": set(CasesFile.model_fields),
        "metric_name": set(judgekit.metric_names()),
        "export": set(FORMATS),
        "attribute": {*dir(judgekit.Report), *judgekit.Score.model_fields},
        "argument": {name for one in PUBLIC for name in inspect.signature(one).parameters},
    }


def test_each_row_has_a_source_and_advice_that_exists():
    names = _names()
    for row in ROWS:
        assert row["source"], row
        assert "use" in row or "say" in row, row
        for name in [*row.get("use", []), *([row["needs"]] if "needs" in row else [])]:
            assert name in names[row["place"]], (row, name)


def test_no_word_is_in_a_place_twice_or_a_name_there():
    names, seen = _names(), set()
    for row in ROWS:
        for word in row["words"]:
            assert (row["place"], word) not in seen
            seen.add((row["place"], word))
            # Another owner may have it.
            if row["place"] not in ("flag", "argument", "subcommand", "attribute"):
                assert word not in names[row["place"]]


def test_a_name_is_suggested_where_it_is_valid_only():
    assert synonym("flag", "--Output_Dir", ["--out"]) == "; did you mean '--out'?"
    assert synonym("flag", "--output-dir", ["--json"]) == ""
    assert synonym("flag", "--no-cache", ["--json"]) == ""
    assert synonym("command", "version") == "; write judgekit --version"
    assert synonym("gate", "mean") == ""
