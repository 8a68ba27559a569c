"""The notebook of examples/notebook, run from its first cell to its last in a real kernel."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "notebook"
NOTEBOOK = FOLDER / "two_prompts.ipynb"
TAPE = FOLDER.parents[1] / "cassettes" / "notebook.jsonl"

pytestmark = pytest.mark.loopback


PROGRAM = """
import sys
import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

source, folder, target = sys.argv[1:]
manager = AsyncKernelManager(transport="ipc", ip=target + ".ipc", connection_file=target + ".json")
notebook = nbformat.read(source, as_version=4)
resources = {"metadata": {"path": folder}}
NotebookClient(notebook, km=manager, timeout=120, resources=resources).execute(cleanup_kc=True)
nbformat.write(notebook, target)
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The notebook with its outputs; run by nbclient, in a process of its own."""
    folder = tmp_path_factory.mktemp("notebook")
    places = {"JUDGEKIT_HOME": "home", "IPYTHONDIR": "ipython", "HOME": ""}
    environment = {name: str(folder / place) for name, place in places.items()}
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    tape = TAPE.read_bytes()
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(NOTEBOOK), str(FOLDER), str(folder / "done.ipynb")],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert TAPE.read_bytes() == tape
    return json.loads((folder / "done.ipynb").read_text("utf-8"))


def outputs(notebook):
    """The data of every output, by the first line of its cell."""
    return [
        ("".join(cell["source"]).splitlines()[-1], output)
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
        for output in cell["outputs"]
    ]


def test_every_cell_runs_and_prints_nothing_but_what_it_shows(done):
    kinds = {output["output_type"] for _, output in outputs(done)}

    assert kinds == {"execute_result"}
    assert all("text/html" in output["data"] for _, output in outputs(done))


def test_what_is_shown_is_what_it_says(done):
    shown = {
        last: {kind: "".join(text) for kind, text in output["data"].items()}
        for last, output in outputs(done)
    }

    report = shown["first"]["text/html"]
    assert "judgekit: 8 cases, judge manual/example" in report
    assert "worst results, of 8 cases" in report
    assert "kitchen: 2 of 8 cases got worse" in shown["found"]["text/plain"]
    assert "8 cases in both" in shown["found"]["text/html"]
    assert "right" in shown['first.case(first.metrics["kitchen"].worst[0].case)']["text/html"]


def test_it_leaves_its_folder_as_it_was(done):
    assert sorted(path.name for path in FOLDER.iterdir()) == [
        "README.md", "answers.csv", "two_prompts.ipynb", "verdicts_v1.jsonl", "verdicts_v2.jsonl",
    ]  # fmt: skip


def test_it_is_kept_without_outputs_and_says_who_judged():
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]

    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code)
    text = "".join("".join(cell["source"]) for cell in notebook["cells"])
    assert re.search(r"no model judged them, and no accuracy is implied", text)
    assert NOTEBOOK.stat().st_size < 10_000
