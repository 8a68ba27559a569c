from __future__ import annotations

import json

from tests.cli.conftest import one_line


def test_a_schema_is_printed(judgekit):
    done = judgekit("schema", "rubric")

    assert done.code == 0
    assert "criteria" in json.loads(done.out)["properties"]


def test_a_kind_without_a_schema_is_one_line(judgekit):
    assert one_line(judgekit("schema", "rubrik")) == (
        "no schema of 'rubrik'; did you mean 'rubric'?"
    )
