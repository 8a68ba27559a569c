"""`judgekit rank`, as it is typed."""

from __future__ import annotations

import json

import pytest

VOTES = "prompt,a,b,winner,judge\n" + "".join(
    f"{n},one,two,{'b' if n % 3 == 0 else 'a'},j{n % 2}\n" for n in range(12)
)


@pytest.fixture
def votes(tmp_path, monkeypatch):
    (tmp_path / "votes.csv").write_text(VOTES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_table_of_models_is_printed(votes, judgekit):
    done = judgekit("rank", "votes.csv", "--draws", 100)

    assert done.code == 0
    assert done.out.splitlines()[0] == "12 comparisons on 12 prompts; judged by j0, j1"
    assert "rank  ranks   model  strength" in done.out
    assert "one or two may be the strongest" in done.out
    assert done.err == ""
    assert judgekit("rank", "votes.csv", "--draws", 100).out == done.out


def test_standard_input_and_json(votes, judgekit, monkeypatch):
    done = judgekit("rank", "votes.csv", "--json", "--judge", "j1", "--draws", 100)
    found = json.loads(done.out)

    assert found["comparisons"] == 6
    assert found["judges"] == {"j1": 6}
    assert found["too_few"] == "6 of the 10 prompts that an interval needs"
    assert found["models"][0]["strength"] == pytest.approx(-found["models"][1]["strength"])


def test_the_page_keeps_standard_output_clean(votes, judgekit):
    done = judgekit("rank", "votes.csv", "--markdown", "--out", "page.html", "--draws", 100)

    assert done.out.startswith("### ")
    assert "\n- one or two may be the strongest" in done.out
    assert done.err == "page: page.html\n"
    first = (votes / "page.html").read_bytes()
    judgekit("rank", "votes.csv", "--out", "page.html", "--draws", 100)
    assert (votes / "page.html").read_bytes() == first


def test_models_that_are_not_connected_are_a_warning(votes, judgekit):
    (votes / "votes.csv").write_text(VOTES + "1,three,one,a,\n")
    done = judgekit("rank", "votes.csv", "--draws", 100)

    assert done.code == 0
    assert "! The comparisons are not strongly connected (group 1: three; group 2: one, two)" in (
        " ".join(done.out.split())
    )
    assert "group  rank" in done.out
