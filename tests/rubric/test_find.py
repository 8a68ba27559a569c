from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from judgekit.core.errors import RubricError
from judgekit.core.suggest import MANY
from judgekit.rubric.library import builtin_folder, find_rubric, rubric_names
from judgekit.rubric.load import load_rubric

ROOT = Path(__file__).parents[2]
TEXT = (
    "---\nname: mine\ncriteria:\n  a: {text: A.}\n---\n{{ criteria | length }} {{ case.output }}\n"
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "mine.jinja").write_text(TEXT, encoding="utf-8")
    (tmp_path / "rubrics" / "tone.jinja").write_text(TEXT, encoding="utf-8")
    (tmp_path / "rubrics" / "_part.jinja").write_text("", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("mine", "mine.jinja"),
        ("tone", "rubrics/tone.jinja"),
        ("mine.jinja", "mine.jinja"),
        ("rubrics/tone.jinja", "rubrics/tone.jinja"),
        ("rubrics/tone", "rubrics/tone.jinja"),
        ("./mine", "mine.jinja"),
        (Path("rubrics") / "tone.jinja", "rubrics/tone.jinja"),
    ],
)
def test_a_rubric_is_found_by_name_or_path(folder, source, found):
    assert find_rubric(source, base=folder) == folder / found


def test_an_absolute_path_needs_no_base(folder):
    assert find_rubric(folder / "mine.jinja", base=Path("elsewhere")) == folder / "mine.jinja"


def test_the_working_folder_is_the_base_by_default(folder, monkeypatch):
    monkeypatch.chdir(folder)

    assert find_rubric("tone").resolve() == folder / "rubrics" / "tone.jinja"


def test_a_name_of_ones_own_goes_before_a_built_in_one(folder):
    (folder / "quality.jinja").write_text(TEXT, encoding="utf-8")

    assert load_rubric("quality", base=folder).name == "mine"
    assert load_rubric("quality").name == "quality"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("qualty", "no rubric named 'qualty'; did you mean 'quality'?"),
        ("tones", "no rubric named 'tones'; did you mean 'tone'?"),
        ("zzz", "no rubric named 'zzz'; known: {known}"),
        ("", "no rubric named ''; known: {known}"),
        (
            "../zzz",
            "{folder}/../zzz.jinja: no such rubric file; `judgekit rubric new NAME` writes one",
        ),
        ("/", "/: this is a folder; name a rubric in it"),
        ("rubrics/", "{folder}/rubrics: this is a folder; name a rubric in it"),
        (
            "rubrics/tone.jinj",
            "{folder}/rubrics/tone.jinj.jinja: no such rubric file; did you mean"
            " '{folder}/rubrics/tone.jinja'?",
        ),
        (
            "rubrics/zzz.jinja",
            "{folder}/rubrics/zzz.jinja: no such rubric file; "
            "`judgekit rubric new NAME` writes one",
        ),
    ],
)
def test_an_unknown_rubric_names_its_neighbours(folder, source, message):
    with pytest.raises(RubricError) as caught:
        find_rubric(source, base=folder)

    names = sorted({*rubric_names(), "mine", "tone"})
    known = f"{', '.join(names[:MANY])} and {len(names) - MANY} more"
    assert str(caught.value) == message.format(folder=folder, known=known)


def test_parts_are_no_rubrics(folder):
    assert rubric_names(folder / "rubrics") == ["tone"]
    assert not any(name.startswith("_") for name in rubric_names())


def test_the_built_in_folder_is_that_of_the_checkout():
    assert builtin_folder() == ROOT / "rubrics"
    assert {"base", "prompt_alignment", "quality", "safety"} <= set(rubric_names())


PROBE = (
    "from judgekit.rubric.load import load_rubric\n"
    "from judgekit.rubric.library import builtin_folder, rubric_names\n"
    "import judgekit\n"
    "print(judgekit.__file__)\n"
    "print(builtin_folder())\n"
    "print(*rubric_names())\n"
    "print(*(load_rubric(n).digest for n in rubric_names() if n != 'base'))\n"
)


def probe(tmp_path, **environment):
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        cwd=tmp_path,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_the_built_in_rubrics_are_found_from_any_folder(tmp_path):
    _, folder, names, digests = probe(tmp_path)

    assert folder == str(ROOT / "rubrics")
    assert names.split() == rubric_names()
    assert digests.split() == [load_rubric(n).digest for n in rubric_names() if n != "base"]


@pytest.mark.slow
def test_an_installed_wheel_carries_the_same_rubrics(tmp_path):
    pytest.importorskip("hatchling", reason="builds a wheel")
    target = tmp_path / "site"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:  # what installing a pure wheel does, without pip
        archive.extractall(target)

    package, folder, names, digests = probe(tmp_path, PYTHONPATH=str(target))

    assert Path(package).is_relative_to(target)
    assert (target / "judgekit" / "py.typed").exists(), "type checkers would ignore the package"
    assert folder == str(target / "judgekit" / "_rubrics")
    assert names.split() == rubric_names()
    assert digests.split() == [load_rubric(n).digest for n in rubric_names() if n != "base"]
