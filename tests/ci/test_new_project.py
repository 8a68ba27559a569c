"""What `judgekit init --ci` writes checks the project it is written with."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
import yaml

from judgekit.authoring.scaffold.project import (
    HOSTS,
    ProjectPlan,
    misplaced,
    project_files,
    write_project,
)
from judgekit.core.errors import ConfigError
from tests.ci.runner import INSTALL, Runner, codes, git, pull_request
from tests.ci.test_example import EXAMPLE

WORKFLOW = ".github/workflows/judgekit.yml"


def pins(text):
    return dict(re.findall(r"uses: (actions/[\w-]+)@(.+)$", text, re.MULTILINE))


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "Begin")
    return folder


@pytest.mark.parametrize("judge", [None, pytest.param("none", marks=pytest.mark.thorough)])
def test_the_first_pull_request_passes_and_the_next_is_compared(repository, tmp_path, judge):
    pull_request(
        repository, lambda f: write_project(f, ProjectPlan("shop", judge=judge, ci="github"))
    )
    job = yaml.safe_load((repository / WORKFLOW).read_text("utf-8"))["jobs"]["judgekit"]

    first = Runner(repository, tmp_path / "first", event="pull_request")
    done, summary, _ = first.job(job, "judgekit")
    git(repository, "branch", "--quiet", "-D", "work")
    pull_request(repository, lambda folder: (folder / "notes.txt").write_text("x", "utf-8"))
    second = Runner(repository, tmp_path / "second", event="pull_request")
    again, compared, _ = second.job(job, "judgekit")

    assert not any(codes(done).values()), [step.err for step in done.values()]
    assert "there is nothing to compare with" in summary
    assert not any(codes(again).values()), [step.err for step in again.values()]
    assert "base runs/base, new runs/all" in compared
    assert ("Rubrics pass their tests" in again) == (judge is None)
    made = second.artifacts / "judgekit"
    assert (made / "runs/all/report.html").exists()
    assert (made / "compare.html").exists()
    assert int(ET.parse(made / "junit.xml").getroot().get("tests")) > 3


@pytest.mark.parametrize("judge", [None, pytest.param("none", marks=pytest.mark.thorough)])
def test_gitlab_s_script_runs(repository, tmp_path, judge):
    write_project(repository, ProjectPlan("shop", judge=judge, ci="gitlab"))
    job = yaml.safe_load((repository / ".gitlab-ci.yml").read_text("utf-8"))["judgekit"]
    runner = Runner(repository, tmp_path / "runner", event="push")
    script = {"name": "script", "run": "\n".join(s for s in job["script"] if s != INSTALL)}

    done = runner.run(script, repository, tmp_path / "none")

    assert done.code == 0, done.err
    assert "judgekit rubric test rubrics" in job["script"] or judge == "none"
    assert (repository / job["artifacts"]["reports"]["junit"]).exists()


def test_it_is_as_careful_as_the_example():
    text = project_files(ProjectPlan("shop", ci="github"))[WORKFLOW]
    said = yaml.safe_load(text)
    example = (EXAMPLE / WORKFLOW).read_text("utf-8")

    assert said["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert pins(text).items() <= pins(example).items()
    assert len(pins(text)) == 3
    assert "secrets." not in text
    assert not [s for s in said["jobs"]["judgekit"]["steps"] if "${{" in s.get("run", "")]


@pytest.mark.parametrize("host", HOSTS)
def test_nothing_is_left_to_fill_in(host):
    for judge in (None, "none"):
        text = project_files(ProjectPlan("shop", judge=judge, ci=host))[HOSTS[host]]
        assert not re.search("@[A-Z]+@", text)
    assert HOSTS[host] not in project_files(ProjectPlan("shop"))


@pytest.mark.parametrize("host", ["gitlb", "jenkins", ""])
def test_another_host_is_refused_and_nothing_is_written(tmp_path, host):
    with pytest.raises(ConfigError, match=r"unknown host .*git"):
        write_project(tmp_path / "shop", ProjectPlan("shop", ci=host))

    assert not (tmp_path / "shop").exists()


def test_a_folder_within_a_repository_is_told_where_the_file_belongs(repository):
    (repository / "evals").mkdir()

    assert misplaced(repository, "github") is None
    assert misplaced(repository.parent / "elsewhere", "github") is None
    said = misplaced(repository / "evals", "github")
    assert said is not None
    assert str(repository) in said
