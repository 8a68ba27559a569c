"""The block for coding agents in AGENTS.md."""

from __future__ import annotations

import pytest

from judgekit.authoring.scaffold.project import (
    AGENTS,
    ProjectPlan,
    project_files,
    with_block,
    write_project,
)
from judgekit.core.errors import ConfigError
from tests.each import each

BLOCK = project_files(ProjectPlan("shop"))[AGENTS]


def test_the_block_says_how_to_run_replay_and_record():
    for command in ("judgekit run suite.yaml --out", "--plan", "--record new_episodes"):
        assert command in BLOCK
    bare = project_files(ProjectPlan("shop", judge="none"))[AGENTS]
    assert "cassette" not in bare
    assert "--record" not in bare


@each("text", ["", "# Mine\n", "# Mine", "# Mine\r\n\r\nMore.\r\n", "\ufeff# Mine\n"])
def test_text_of_the_user_is_kept_and_a_second_time_changes_nothing(text, tmp_path_factory):
    path = tmp_path_factory.mktemp("a") / AGENTS
    path.write_bytes(text.encode())

    once = with_block(path, BLOCK)
    path.write_bytes(f"{once}after\n".encode())

    assert once.startswith(text)
    assert once.replace("\r\n", "\n").endswith(BLOCK)
    assert with_block(path, BLOCK) == f"{once}after\n"


def test_an_older_block_is_replaced(tmp_path):
    (tmp_path / AGENTS).write_text("a\n<!-- judgekit -->\nold\n<!-- end of judgekit -->\nb\n")

    write_project(tmp_path, ProjectPlan("shop"))

    assert (tmp_path / AGENTS).read_text() == f"a\n{BLOCK}b\n"


@each("data", [b"<!-- judgekit -->\n# all of this is mine\n", b"\xff\xfe#"])
def test_a_file_that_cannot_be_changed_safely_is_kept(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("a")
    (folder / AGENTS).write_bytes(data)

    with pytest.raises(ConfigError, match="AGENTS"):
        write_project(folder, ProjectPlan("shop"))

    assert (folder / AGENTS).read_bytes() == data
    assert [path.name for path in folder.iterdir()] == [AGENTS]


def test_a_link_is_refused(tmp_path):
    (tmp_path / AGENTS).symlink_to(tmp_path / "elsewhere.md")

    with pytest.raises(ConfigError, match="link"):
        write_project(tmp_path, ProjectPlan("shop"))
