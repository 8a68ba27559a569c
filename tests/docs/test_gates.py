"""docs/gates.md explains every key of a gate, with an example."""

from __future__ import annotations

import re

from judgekit.suite.file import GateFile, RunGateFile
from tests.docs.page import PAGES, blocks
from tests.each import each

TEXT = PAGES["docs/gates.md"].read_text("utf-8")
SUITES = "\n".join(block.text for block in blocks(TEXT) if block.language == "yaml")


@each("key", sorted({*GateFile.model_fields, *RunGateFile.model_fields}))
def test_every_key_of_a_gate_is_explained_and_used(key):
    assert re.search(rf"^\| .*`{key}[`:].* \| ", TEXT, re.MULTILINE)
    assert re.search(rf"\b{key}: ", SUITES)
