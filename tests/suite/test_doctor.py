"""What the doctor sees without asking anybody."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from judgekit.cassette.store import Store, store_folder
from judgekit.cli.app import app
from judgekit.core.errors import ConfigError
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.negotiation import KnownMode
from judgekit.suite.doctor.examine import examine
from judgekit.suite.doctor.text import Diagnosis, Role, diagnosis_text
from judgekit.suite.overrides import Overrides

SUITE = """\
cases: cases.jsonl
judges:
  judge: {model: openai/gpt-6-luna}
  second: {model: openai/local, api_base: "http://127.0.0.1:9/v1?tenant=canary-99"}
cassette: tape.jsonl
metrics:
  safety:
  again: {rubric: safety, judge: second}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    lines = "".join(f'{{"id": "c{n}", "output": "Hello {n}."}}\n' for n in range(4))
    (tmp_path / "cases.jsonl").write_text(lines, encoding="utf-8")
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE, encoding="utf-8")
    return path


def test_installation_is_described() -> None:
    found = examine()

    assert found.packages["litellm"] == metadata.version("litellm")
    assert found.exit_code == 0
    assert found.extras["parquet"] == ()


def test_names_of_keys_are_shown_and_values_never(
    monkeypatch: pytest.MonkeyPatch, suite: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-1234567890")
    monkeypatch.setenv("EMPTY_API_KEY", "")
    text = suite.read_text("utf-8").replace("gpt-6-luna", "gpt-6-luna, api_key_env: MY_KEY")
    suite.write_text(text, encoding="utf-8")

    found = examine(suite)

    said = diagnosis_text(found) + found.model_dump_json()
    assert found.keys == ("OPENAI_API_KEY",)
    assert "MY_KEY (not set)" in said
    assert "canary" not in said


def test_suite_is_replayed_and_what_it_lacks_is_counted(suite: Path) -> None:
    found = examine(suite)

    assert (found.cases, found.exit_code) == (4, 0)
    calls = {cost.model: (cost.calls, cost.dollars is not None) for cost in found.missing}
    assert calls == {"openai/gpt-6-luna": (4, True), "openai/local": (4, False)}
    said = " ".join(diagnosis_text(found).split())
    assert "4 calls to openai/gpt-6-luna, about" in said
    assert "price unknown" in said
    assert "not called; --ask" in said
    assert not store_folder(suite.parent).exists()


def test_rung_of_an_earlier_run_is_shown(suite: Path) -> None:
    judge = LiteLLMJudge("openai/local", api_base="http://127.0.0.1:9/v1")
    store = Store(store_folder(suite.parent))
    learned = KnownMode(model="openai/local", mode="tools", steps=("json_schema: HTTP 500: no",))
    store.put(judge.negotiation._name, learned.model_dump_json())
    store.close()

    role = {role.role: role for role in examine(suite).roles}["second"]

    assert (role.mode, role.mode_from, role.address) == ("tools", "store", "127.0.0.1:9")
    assert role.steps == ("json_schema: HTTP 500: no",)


def test_suite_that_is_wrong_is_a_problem_in_one_line(suite: Path) -> None:
    suite.write_text(SUITE.replace("judge: second", "judge: secnd"), encoding="utf-8")

    found = examine(suite)

    assert found.exit_code == 2
    assert found.problems == (
        f"{suite}:8: metric 'again': no judge has the role 'secnd'; did you mean 'second'?",
    )


def test_nobody_to_ask_is_said() -> None:
    with pytest.raises(ConfigError, match="no judge to ask"):
        examine(ask=True)


def test_missing_key_is_a_problem_before_any_call() -> None:
    found = examine(None, Overrides(judge="openai/gpt-6-luna"), ask=True)

    assert found.problems == ("judge openai/gpt-6-luna: set OPENAI_API_KEY in the environment",)


def installed(folder: Path, name: str, package: str, version: str = "9.9") -> None:
    """Make a folder look as if a project had been installed into it."""
    (folder / package).mkdir()
    (folder / package / "__init__.py").write_text("")
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "top_level.txt").write_text(package + "\n")
    (info / "RECORD").write_text(f"{package}/__init__.py,,\n")


@pytest.mark.parametrize("declared", [True, False])
def test_another_project_under_our_name_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, declared: bool
) -> None:
    installed(tmp_path, "judgekit", "judgekit")
    installed(tmp_path, "judgekit-more", "judgekit_more")
    if not declared:
        for info in tmp_path.glob("*.dist-info"):
            (info / "top_level.txt").unlink()
    monkeypatch.syspath_prepend(tmp_path)

    problems = examine().problems

    others = [p.partition(":")[0] for p in problems if "another project" in p]
    assert others == ["another project, judgekit, installs a package named judgekit"]
    assert any(str(tmp_path / "judgekit") in p for p in problems)


def test_release_to_keep_away_from_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version
    monkeypatch.setattr(
        metadata, "version", lambda name: "1.82.8" if name == "litellm" else real(name)
    )

    found = examine()

    assert found.problems == ("litellm 1.82.8 is an excluded release; install another version",)
    assert found.exit_code == 2


def test_package_and_extra_that_lack_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name in ("pyarrow", "jinja2"):
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)

    found = examine()

    assert found.problems == ("jinja2 is missing: pip install judgekit-rubrics",)
    assert "pip install 'judgekit-rubrics[parquet]'" in diagnosis_text(found, width=100)


HOSTILE = Diagnosis(
    release="0.1.0",
    python="3.11",
    system="Linux",
    packages={"x" * 30: None},
    store="/" + "long/" * 40,
    suite="suite.yaml",
    roles=(
        Role(
            role="a_role_of_a_long_name",
            model="openai/\x1b[31mred",
            mode="text",
            steps=("json_schema: \u202edlrow", "tools: " + "word " * 60),
            asked=4,
            seconds=0.25,
            repeats=False,
        ),
    ),
    problems=("b\x07ell " * 30,),
)


@pytest.mark.parametrize("width", [60, 80])
def test_text_keeps_to_its_width_and_shows_no_control_characters(width: int) -> None:
    text = diagnosis_text(HOSTILE, width=width)

    assert max(map(len, text.splitlines())) <= width
    assert not any(char in text for char in "\x1b\x07\u202e")


def test_command_prints_json_and_exits_with_what_it_found(suite: Path) -> None:
    runner = CliRunner()

    good = runner.invoke(app, ["doctor", str(suite), "--json"])
    bad = runner.invoke(app, ["doctor", str(suite.with_name("no.yaml"))])

    found: dict[str, Any] = json.loads(good.stdout)
    assert (good.exit_code, bad.exit_code) == (0, 2)
    assert [role["role"] for role in found["roles"]] == ["judge", "second"]
    assert "no such suite file" in " ".join(bad.stdout.split())
