"""Where a rubric of a name comes from: folders of one's own, packages, the built-in one."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from judgekit.core.errors import ConfigError, RubricError
from judgekit.metrics.registry import create_metric, metric_names
from judgekit.rubric.library import builtin_folder, find_rubric
from judgekit.rubric.load import load_rubric
from judgekit.suite.suite import load_suite
from tests.cli.conftest import judgekit, one_line  # noqa: F401 - a fixture


def text(name, description="About it."):
    return (
        f"---\nname: {name}\nextends: base\ndescription: {description}\n"
        "criteria: {a: {text: A.}}\n---\n"
    )


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package that offers rubrics, the way an installer leaves it on disk."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.chdir(tmp_path)

    def put(name, *rubrics, value=None, entry=None):
        module = f"{name}_rubrics"
        folder = site / module / "rubrics"
        folder.mkdir(parents=True)
        (site / module / "__init__.py").write_text("raise SystemExit('imported')\n", "utf-8")
        for rubric in rubrics:
            (folder / f"{rubric}.jinja").write_text(text(rubric, f"Of {name}."), "utf-8")
        info = site / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        point = f"{entry or name} = {value or module + '.rubrics'}"
        (info / "entry_points.txt").write_text(f"[judgekit.rubrics]\n{point}\n")
        importlib.invalidate_caches()
        # The lookup is remembered for a search path; this one now holds more.
        monkeypatch.syspath_prepend(str(site / f"{name}.pth"))
        return folder

    return put


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a suite that has rubrics in a folder of its own and beside it."""
    folder = tmp_path / "project"
    for name in ("shared", "rubrics"):
        (folder / name).mkdir(parents=True)
    (folder / "suite.yaml").write_text(
        "rubrics: shared\njudge: fake/judge\nmetrics: {tone: }\n", "utf-8"
    )
    monkeypatch.chdir(folder)
    return folder


def test_a_package_offers_rubrics_without_being_imported(install):
    folder = install("acme", "tone")
    (folder / "_part.jinja").write_text("a shared line", "utf-8")
    body = '{% block task %}{% include "_part.jinja" %}{% endblock %}'
    (folder / "tone.jinja").write_text(text("tone", "Of acme.") + body, "utf-8")

    assert load_rubric("tone").path == folder / "tone.jinja"
    assert load_rubric("acme:tone").description == "Of acme."
    assert "tone" in metric_names()
    assert create_metric("tone", judge=object_with_a_model()).rubric.description == "Of acme."
    assert "acme_rubrics" not in sys.modules


def object_with_a_model():
    from judgekit.judges.fake import FakeJudge

    return FakeJudge()


def test_the_nearest_shelf_counts(install, project):
    places = [
        project / "shared",
        project,
        project / "rubrics",
        install("acme", "quality"),
        builtin_folder(),
    ]
    for place in places[:3]:
        (place / "quality.jinja").write_text(text("quality", str(place)), "utf-8")

    for number, place in enumerate(places):
        found = find_rubric("quality", base=project, folders=(project / "shared",))
        assert found == place / "quality.jinja"
        if number < 4:
            found.unlink()


def test_a_path_goes_before_every_shelf(project):
    (project / "shared" / "tone.jinja").write_text(text("tone"), "utf-8")
    (project / "rubrics" / "tone.jinja").write_text(text("tone", "By path."), "utf-8")

    assert load_rubric("rubrics/tone", folders=(project / "shared",)).description == "By path."


def test_a_suite_names_folders_of_its_own(project):
    (project / "shared" / "tone.jinja").write_text(text("tone", "Shared."), "utf-8")

    suite = load_suite("suite.yaml")

    assert suite.metrics[0].rubric.description == "Shared."
    suite.close()


def test_a_folder_that_is_not_there_is_refused(project):
    (project / "suite.yaml").write_text("rubrics:\n  - shared\n  - shred\nmetrics: {tone: }\n")

    with pytest.raises(ConfigError) as caught:
        load_suite("suite.yaml")

    assert str(caught.value) == "suite.yaml:3: no such folder: shred; did you mean 'shared'?"


@pytest.mark.parametrize(
    "value", ["nowhere_rubrics", "acme_rubrics.missing", "json", "json.tool", "../x", "acme-x", ""]
)
def test_a_package_that_keeps_no_promise_is_a_loud_error(install, value):
    install("acme", "tone", value=value or " ")

    with pytest.raises(RubricError, match="the installed package 'acme' offers rubrics as acme"):
        load_rubric("quality")


WITH_BACKPORT = """
import importlib_metadata  # litellm loads it, and from then on it finds what is installed
from judgekit.core.errors import JudgekitError
from judgekit.metrics.registry import create_metric
from judgekit.rubric.load import load_rubric
for named in (load_rubric, create_metric):
    try:
        print(named("tone"))
    except JudgekitError as exc:
        print(exc)
"""


def test_a_malformed_package_is_the_same_error_whatever_else_is_loaded(install, tmp_path):
    pytest.importorskip("importlib_metadata")
    install("acme", "tone", value="../x")

    said = subprocess.run(
        [sys.executable, "-c", WITH_BACKPORT],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()

    expected = "the installed package 'acme' offers rubrics as acme = ../x, but"
    assert [line[: len(expected)] for line in said] == [expected] * 2


def test_what_a_package_writes_badly_elsewhere_is_no_matter(install, tmp_path):
    folder = install("acme", "tone")
    info = install("other", "kind").parents[1] / "other_rubrics-1.0.dist-info"
    (info / "entry_points.txt").write_text("[console_scripts]\nnothing\n=x\n[judgekit.rubrics\n")

    assert find_rubric("tone") == folder / "tone.jinja"


def test_a_copy_behind_another_one_offers_nothing(install, tmp_path, monkeypatch):
    install("acme", "tone")
    front = tmp_path / "front"
    (front / "acme-2.0.dist-info").mkdir(parents=True)
    (front / "acme-2.0.dist-info" / "METADATA").write_text("Name: acme\nVersion: 2.0\n")
    monkeypatch.syspath_prepend(str(front))

    with pytest.raises(RubricError, match="no rubric named 'tone'"):
        find_rubric("tone")


def test_two_packages_with_one_rubric_must_be_told_apart(install):
    install("acme", "tone")
    other = install("other", "tone")

    with pytest.raises(RubricError, match="name one: acme:tone, other:tone"):
        load_rubric("tone")
    assert load_rubric("other:tone").path == other / "tone.jinja"


def test_two_packages_of_one_name_are_refused(install):
    install("acme", "tone")
    install("other", "kind", entry="acme")

    with pytest.raises(RubricError, match="two packages offer rubrics as 'acme'"):
        load_rubric("kind")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("acme:tune", "package 'acme' offers no rubric 'tune'; did you mean 'tone'?"),
        ("amce:tone", "no package offers rubrics as 'amce'; did you mean 'acme'?"),
        ("acme:..", "package 'acme' offers no rubric '..'"),
        ("tonne", "no rubric named 'tonne'; did you mean 'tone'?"),
    ],
)
def test_a_wrong_name_is_met_with_a_near_one(install, name, message):
    install("acme", "tone")

    with pytest.raises(RubricError) as caught:
        load_rubric(name)

    assert str(caught.value).startswith(message)


def test_only_jinja_files_are_templates(install):
    folder = install("acme", "tone")
    (folder / "notes.txt").write_text("SECRET", "utf-8")
    body = '{% block task %}{% include "notes.txt" %}{% endblock %}'
    (folder / "tone.jinja").write_text(text("tone") + body, "utf-8")

    with pytest.raises(RubricError, match=r"template 'notes\.txt' was not found"):
        load_rubric("tone")


def test_list_says_where_each_comes_from_and_what_is_hidden(install, project, judgekit):  # noqa: F811
    install("acme", "tone", "quality")
    (project / "shared" / "tone.jinja").write_text(text("tone", "Shared."), "utf-8")
    (project / "shared" / "broken.jinja").write_text("nothing", "utf-8")

    done = judgekit("rubric", "list", "--suite", "suite.yaml")

    assert done.code == 0, done.err
    said = done.out.splitlines()
    assert any(line.startswith("tone ") and "shared  Shared." in line for line in said)
    assert any("package acme, hidden by that of shared  Of acme." in line for line in said)
    assert any("built-in, hidden by that of package acme" in line for line in said)
    assert any(line.startswith("broken ") and "does not load: " in line for line in said)
    assert not any("shared" in line for line in judgekit("rubric", "list").out.splitlines())


def test_list_of_a_folder_that_is_not_there_is_one_line(project, judgekit):  # noqa: F811
    assert one_line(judgekit("rubric", "list", "--folder", "nope")) == "nope: no such folder"


def test_the_built_in_rubrics_are_listed_once_where_they_are_at_hand(judgekit, monkeypatch):  # noqa: F811
    monkeypatch.chdir(Path(builtin_folder()).parent)

    lines = judgekit("rubric", "list").out.splitlines()

    assert len([line for line in lines if line.startswith("quality ")]) == 1
    assert "built-in  " in next(line for line in lines if line.startswith("quality "))


def test_a_built_in_rubric_is_read_once_and_every_load_has_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = load_rubric("prompt_alignment")
    monkeypatch.setattr("judgekit.rubric.load.chain", None)
    first.modes.clear()
    first.groups.clear()
    second = load_rubric("prompt_alignment")

    assert second.modes
    assert second.groups
    assert second.template is not first.template
    assert (second.digest, second.path) == (first.digest, first.path)


@pytest.mark.parametrize("changed", ["quality", "versions/base@2", "versions/_criteria@1"])
def test_a_built_in_rubric_is_read_again_once_a_file_of_it_changed(changed, tmp_path, monkeypatch):
    shutil.copytree(builtin_folder(), tmp_path / "rubrics")
    for module in ("load", "chain", "library"):
        name = f"judgekit.rubric.{module}.builtin_folder"
        monkeypatch.setattr(name, lambda: tmp_path / "rubrics")
    monkeypatch.chdir(tmp_path)
    before = load_rubric("quality").digest
    file = tmp_path / "rubrics" / f"{changed}.jinja"
    file.write_text(file.read_text("utf-8") + "{# changed #}\n", "utf-8")

    assert load_rubric("quality").digest != before
