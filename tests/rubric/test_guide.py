from __future__ import annotations

from judgekit.rubric.guide import guide
from judgekit.rubric.library import rubric_names
from judgekit.rubric.show import list_text, listed_rubrics


def test_every_built_in_rubric_has_a_purpose_and_a_source():
    purposes = guide()

    assert sorted(purposes) == sorted(set(rubric_names()) - {"base"})
    assert all(purpose.use and purpose.source for purpose in purposes.values())


def test_the_list_groups_built_in_rubrics_by_purpose(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rubrics").mkdir()
    own = "name: summary\nextends: base\ndescription: Mine.\ncriteria: {a: {text: A?}}"
    (tmp_path / "rubrics" / "summary.jinja").write_text(f"---\n{own}\n---\n", "utf-8")

    first, *groups = list_text(listed_rubrics()).split("\n\n")

    assert first.split()[0] == "summary"
    assert first.endswith("Mine.")
    titles = [group.splitlines()[0] for group in groups]
    assert titles == list(dict.fromkeys(purpose.group for purpose in guide().values()))
    assert "built-in, hidden by that of rubrics" in groups[1]
