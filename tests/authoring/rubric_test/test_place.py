from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.authoring.rubric_test.run import is_packaged, tape_of
from judgekit.rubric.library import builtin_folder

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("rubric", "tape"),
    [
        ("rubrics/kind.jinja", "cassettes/rubrics/kind.jsonl"),
        ("evals/rubrics/kind.jinja", "evals/cassettes/rubrics/kind.jsonl"),
        ("rubrics/shop/kind.jinja", "cassettes/rubrics/shop/kind.jsonl"),
        ("rubrics/rubrics/kind.jinja", "rubrics/cassettes/rubrics/kind.jsonl"),
        ("/srv/rubrics/kind.jinja", "/srv/cassettes/rubrics/kind.jsonl"),
        ("kind.jinja", "cassettes/rubrics/kind.jsonl"),
        ("templates/kind.jinja", "templates/cassettes/rubrics/kind.jsonl"),
    ],
)
def test_a_cassette_is_beside_the_folder_of_the_rubrics(rubric, tape, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert tape_of(Path(rubric)) == Path(tape)


def test_a_folder_rubrics_above_the_working_folder_is_seen(tmp_path, monkeypatch):
    (tmp_path / "rubrics").mkdir()
    monkeypatch.chdir(tmp_path / "rubrics")

    assert tape_of(Path("kind.jinja")) == tmp_path / "cassettes" / "rubrics" / "kind.jsonl"


def test_the_built_in_rubrics_of_a_checkout_have_their_cassettes_beside_them():
    path = builtin_folder() / "safety.jinja"

    assert not is_packaged(path)
    assert tape_of(path).resolve() == ROOT / "cassettes" / "rubrics" / "safety.jsonl"
