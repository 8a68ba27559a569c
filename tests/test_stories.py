"""What the commands print about judges that are wrong in a known way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.stories import STORIES

GOLDEN = Path(__file__).parent / "data" / "stories"

CLAIMS = ("proves", "significant", "is correct", "corrected by people", "got worse")


@pytest.mark.parametrize("name", STORIES)
def test_the_words_of_a_story(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # lines are wrapped, so a long path would move the words
    (tmp_path / "folder").mkdir()
    texts = list(STORIES[name](Path("folder")))

    # The words of `agree` have goldens with its own tests.
    own = [text for text in texts if not text.startswith("right, ok:")]
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("JUDGEKIT_UPDATE_GOLDEN"):
        golden.write_text("\n".join(own), "utf-8")
    assert "\n".join(own) == golden.read_text("utf-8")
    assert not [claim for claim in CLAIMS if claim in "".join(texts)]


def test_the_jury_is_called_overconfident(tmp_path):
    *_, agreed = STORIES["overconfident_jury"](tmp_path)

    assert "effective votes: 1." in agreed
