"""SARIF, held to what its 2.1.0 schema requires of the objects we write."""

from __future__ import annotations

import json
from urllib.parse import unquote, urlsplit

import pytest

from judgekit.authoring.lint.lint import lint_rubrics
from judgekit.authoring.lint.text import lint_sarif

RUBRIC = """\
---
name: mine
extends: base
description: "Judges <b>tone</b>."
lint: {missing-tests: "no cases \\u202E yet"}
criteria:
  tone: {kind: boolean, text: "Is it appropriate?"}
---
{% block closing %}
{{ case.output }}
{% endblock %}
"""
# sarif-schema-2.1.0.json: the keys each object must have, those it may have (of what we write),
# and the closed sets of words.
REQUIRED = {
    "log": ({"version", "runs"}, {"$schema"}),
    "run": ({"tool"}, {"results", "columnKind"}),
    "tool": ({"driver"}, set()),
    "driver": ({"name"}, {"rules", "semanticVersion"}),
    "rule": ({"id"}, {"shortDescription", "help", "defaultConfiguration"}),
    "result": (
        {"message"},
        {"ruleId", "ruleIndex", "level", "locations", "partialFingerprints", "suppressions"},
    ),
    "location": (set(), {"physicalLocation"}),
    "physical": (set(), {"artifactLocation", "region"}),
    "artifact": (set(), {"uri", "uriBaseId"}),
    "region": (set(), {"startLine"}),
    "suppression": ({"kind"}, {"justification"}),
}
LEVELS = {"none", "note", "warning", "error"}


def check(kind, value):
    needed, allowed = REQUIRED[kind]
    assert needed <= set(value) <= needed | allowed, (kind, value)
    return value


def check_log(log):
    """Walk a log as the schema does; return its results."""
    check("log", log)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    check("run", run)
    assert run["columnKind"] in {"utf16CodeUnits", "unicodeCodePoints"}
    driver = check("driver", check("tool", run["tool"])["driver"])
    ids = [check("rule", rule)["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids)
    for rule in driver["rules"]:
        assert rule["defaultConfiguration"]["level"] in LEVELS
        assert all(isinstance(rule[key]["text"], str) for key in ("shortDescription", "help"))
    for result in run["results"]:
        check("result", result)
        assert result["message"]["text"]
        assert result["level"] in LEVELS
        assert ids[result["ruleIndex"]] == result["ruleId"]
        (location,) = result["locations"]
        physical = check("physical", check("location", location)["physicalLocation"])
        artifact = check("artifact", physical["artifactLocation"])
        parts = urlsplit(artifact["uri"])
        assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("", "", "", "")
        assert not parts.path.startswith("/")
        assert " " not in artifact["uri"]
        assert "\\" not in artifact["uri"]
        line = check("region", physical["region"])["startLine"]
        assert isinstance(line, int)
        assert line >= 1
        assert all(isinstance(v, str) for v in result["partialFingerprints"].values())
        for suppression in result.get("suppressions", []):
            assert check("suppression", suppression)["kind"] in {"inSource", "external"}
    return run["results"]


def test_the_log_is_what_the_schema_requires(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "my rubrics #1 é"
    folder.mkdir()
    (folder / "mine.jinja").write_text(RUBRIC, encoding="utf-8")

    results = check_log(json.loads(lint_sarif(lint_rubrics([folder]))))

    places = {
        r["ruleId"]: (
            unquote(r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]),
            r["locations"][0]["physicalLocation"]["region"]["startLine"],
        )
        for r in results
    }
    assert places == {
        "missing-tests": ("my rubrics #1 é/mine.jinja", 2),
        "vague-criterion": ("my rubrics #1 é/mine.jinja", 7),
        "unfenced-text": ("my rubrics #1 é/mine.jinja", 10),
    }
    silenced = next(r for r in results if r["ruleId"] == "missing-tests")
    assert silenced["suppressions"] == [{"kind": "inSource", "justification": "no cases � yet"}]
    assert all("suppressions" not in r for r in results if r is not silenced)


def test_a_file_outside_the_folder_has_a_relative_path_too(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "mine.jinja").write_text(RUBRIC, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "here")

    results = check_log(json.loads(lint_sarif(lint_rubrics([tmp_path / "mine.jinja"]))))

    assert {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results} == {
        "../mine.jinja"
    }


@pytest.mark.parametrize("text", ["Is it appropriate?", "Is it calm?"])
def test_the_log_is_the_same_twice(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.jinja").write_text(RUBRIC.replace("Is it appropriate?", text), "utf-8")

    assert lint_sarif(lint_rubrics(["mine.jinja"])) == lint_sarif(
        lint_rubrics([tmp_path / "mine.jinja"])
    )


def test_nothing_found_is_a_log_without_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clean = RUBRIC.replace("{{ case.output }}", "").replace("Is it appropriate?", "Is it calm?")
    clean = clean.replace('lint: {missing-tests: "no cases \\u202E yet"}\n', "")
    clean = clean.replace(
        "criteria:", "tests: [{case: {output: a}, expect: {tone: true}}]\ncriteria:"
    )
    (tmp_path / "mine.jinja").write_text(clean, "utf-8")

    assert check_log(json.loads(lint_sarif(lint_rubrics(["mine.jinja"])))) == []


def test_what_a_message_would_take_for_a_link_or_a_placeholder_is_escaped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "Does {0} sound [calm](https://example.org/{answer})?"
    rubric = RUBRIC.replace('"Is it appropriate?"', f'"{text}", details: {{a: "TODO {{x}}"}}')
    (tmp_path / "mine.jinja").write_text(
        rubric.replace("tone: {", "tone: {nullable: true, "), "utf-8"
    )

    results = check_log(json.loads(lint_sarif(lint_rubrics(["mine.jinja"]))))

    (found,) = [r for r in results if r["ruleId"] == "format-placeholder"]
    assert found["message"]["text"] == "judgekit does not fill: '{{answer}}'"
