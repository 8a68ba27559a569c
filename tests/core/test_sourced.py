"""Facts about the world: every row of every data file says where its fact is from."""

import json
import re
from pathlib import Path

import pytest

import judgekit
from judgekit.core.case_field import CASE_FIELDS
from judgekit.core.errors import ConfigError
from judgekit.core.sourced import checked_tables, is_source, read_tables
from judgekit.core.yaml_file import package_data
from judgekit.datasets import case_builder
from judgekit.metrics.criteria import item
from judgekit.privacy.detectors.form import form_data

ROOT = Path(judgekit.__file__).parent
FACTS = (
    "authoring/lint/foreign.yaml",
    "batch/data/job_errors.json",
    "batch/data/providers.json",
    "core/data/synonyms.yaml",
    "core/data/thoughts.json",
    "core/data/unkeyed_params.json",
    "datasets/messages/shapes.json",
    "judges/data/outcomes.json",
    "judges/data/prompt_caches.json",
    "judges/data/schema_keywords.json",
    "judges/data/retirements.json",
    "judges/data/service_tiers.json",
    "judges/data/system_role.json",
    "judges/data/weights.json",
)
"""Files with facts about providers and other tools."""
OWN = (
    "cli/options.json",
    "core/data/rubric_generations.json",
    "metrics/data/catalogue.json",
    "rubric/data/guide.json",
    "steering/commands/options.json",
)
"""JSON files about judgekit itself."""


HOST = re.compile(r"://|\.(?:com|org|net|io|ai|co|dev)\b(?!\.)")


def rows_of(name):
    file = ROOT / name
    if file.suffix == ".yaml":
        tables = checked_tables(package_data(file), file=name)
    else:
        tables = read_tables(file)
    return [(table, row) for table, rows in tables.items() for row in rows]


@pytest.mark.parametrize("name", FACTS)
def test_every_row_has_a_source_without_an_address(name):
    for table, row in rows_of(name):
        said = f"{row['source']} {row.get('verified', '')}"
        assert not HOST.search(said), (table, row)


NAMES = [
    *(field.aliases for field in CASE_FIELDS if field.aliases),
    case_builder._CRITERIA,
    item._TEXTS,
    item._POINTS,
    item._CHILDREN,
]
"""Names of other tools that are tables in code."""


@pytest.mark.parametrize("names", NAMES, ids=lambda names: next(iter(names)))
def test_every_name_of_other_tools_has_a_source_without_an_address(names):
    assert [name for name, said in names.items() if HOST.search(said) or not is_source(said)] == []


def test_every_form_of_a_token_has_a_source_without_an_address():
    rows = checked_tables({"tokens": form_data()["tokens"]}, file="forms.yaml")["tokens"]

    assert [row for row in rows if HOST.search(row["source"]) or "verified" not in row] == []


def test_every_data_file_of_facts_is_in_the_table():
    files = {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.json")}

    assert files == {name for name in FACTS if name.endswith(".json")} | set(OWN)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([{"source": "A: b"}], "x.json: write an object of tables"),
        ({"a": {"b": 1}}, "x.json: write 'a' as a list of rows, each with a source"),
        ({"a": []}, "x.json: write 'a' as a list of rows"),
        ({"a": ["text"]}, "x.json: row 1 of 'a' is no object; write its values by name"),
        ({"a": [{"source": "A: b"}, {}]}, "x.json: row 2 of 'a' has no source; name the project"),
        ({"a": [{"source": " "}]}, "row 1 of 'a' has no source"),
        ({"a": [{"source": ["A"]}]}, "row 1 of 'a' has no source"),
        ({"a": [{"source": "https://a.example/b"}]}, "page or file without an address"),
        (
            {"a": [{"source": "A", "verified": "all"}, {"source": "B"}]},
            "row 2 of 'a' does not say what was verified, as others do",
        ),
        ({"a": [{"source": "A", "verified": ""}]}, "row 1 of 'a' does not say what was verified"),
    ],
)
def test_a_row_that_does_not_say_where_its_fact_is_from_is_refused(data, message):
    with pytest.raises(ConfigError) as refused:
        checked_tables(data, file="x.json")

    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_texts_describe_tables_and_are_no_rows(tmp_path):
    file = tmp_path / "x.json"
    file.write_text(json.dumps({"about": "These.", "a": [{"source": "A: b", "n": 1}]}))

    assert read_tables(file) == {"a": [{"source": "A: b", "n": 1}]}
