"""Versions of rubrics: NAME@V, frozen files, generations."""

import json
from pathlib import Path
from textwrap import dedent

import pytest

from judgekit.core.canonical import digest
from judgekit.core.case import Case
from judgekit.core.errors import AbstractRubric, RubricError
from judgekit.core.generation import generations, newest, of_generation, version_in
from judgekit.judges.absent import AbsentJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.library import builtin_folder, rubric_names
from judgekit.rubric.load import load_rubric
from judgekit.rubric.versions import VERSIONS, frozen_name, version_of, versions_in
from tests.agreement.scratch import first_generation, with_quality_2

DIGESTS = Path(__file__).parents[1] / "data" / "rubric_versions.json"
"""NAME@V -> the digest of the rubric and all that it is built from. An entry never changes."""

PRINT_KEYS = """
    from judgekit import Case, load_rubric
    from judgekit.core.generation import of_generation
    from judgekit.judges.absent import AbsentJudge
    from judgekit.metrics.rubric import RubricMetric
    case = Case(id="a", input="Which day?", output="Monday")
    for name, generation in {names}:
        with of_generation(generation):
            rubric = load_rubric(name)
        for calls in ("all", "each"):
            metric = RubricMetric(rubric, judge=AbsentJudge("m"), calls=calls)
            keys = [request.key[:16] for request in metric.requests(case)[1]]
            print(name, rubric.version, rubric.digest[:16], calls, *keys)
"""


def printed(scratch, *names):
    code = dedent(PRINT_KEYS).format(names=list(names))
    return scratch.python(code).out


def hexes(text):
    """Return the digests and keys in a text."""
    return {word for word in text.split() if len(word) == 16}


def builtin_versions():
    for name in rubric_names():
        for version in versions_in(builtin_folder(), name):
            yield f"{name}@{version}"


def digest_of(name):
    try:
        return load_rubric(name).digest
    except AbstractRubric:
        path = versions_in(builtin_folder(), name.rpartition("@")[0])[int(name[-1])]
        return digest(path.read_text("utf-8"))


def test_no_version_of_a_builtin_rubric_ever_changes():
    partials = {
        f"{path.stem}@1": digest(path.read_text("utf-8"))
        for path in sorted(builtin_folder().glob("_*.jinja"))
    }
    known = {**{name: digest_of(name) for name in builtin_versions()}, **partials}
    recorded = json.loads(DIGESTS.read_text("utf-8"))
    changed = [name for name in recorded if known.get(name) != recorded[name]]
    advice = "freeze the old version and raise `version` (docs/architecture.md)"
    assert not changed, f"{changed} changed: {advice}"
    new = {name: known[name] for name in known if name not in recorded}
    assert not new, f"add to {DIGESTS.name}: {json.dumps(new)}"


def test_the_newest_files_have_the_versions_of_the_newest_generation():
    folder = builtin_folder()
    files = {name: version_of(folder / f"{name}.jinja") for name in rubric_names()}
    # The bare name of `base` means version 1 for ever.
    expected = {name: version_in(name, newest()) for name in files} | {"base": 1}
    assert files == expected


def test_every_version_of_every_generation_is_there():
    for generation in generations():
        with of_generation(generation):
            for name in set(rubric_names()) - {"base"}:
                assert load_rubric(name).version == version_in(name, generation)


def test_a_frozen_rubric_is_built_from_frozen_files():
    for path in (builtin_folder() / VERSIONS).glob("*@*.jinja"):
        if path.name.startswith(("_", "base@")):
            continue
        assert all(frozen_name(file) for file in load_rubric(path).files), path


def test_new_rubrics_and_projects_extend_the_newest_base(tmp_path):
    scratch = with_quality_2(first_generation(tmp_path))
    scratch.judgekit("init", "shop")
    scratch.judgekit("rubric", "new", "tone", "--criterion", "Is it kind?", "--yes")
    new, own = (scratch.work / name for name in ("rubrics/tone.jinja", "shop/rubrics"))
    assert "\nextends: base@2 " in new.read_text("utf-8")
    assert "\nextends: base@2 " in (own / "helpful_reply.jinja").read_text("utf-8")
    # The recorded replies and tests belong to the prompts of the new frame.
    scratch.judgekit("run", "shop/suite.yaml", exits=None)
    assert '"missed": 0' in (scratch.work / "shop/runs/suite/run.json").read_text("utf-8")
    scratch.judgekit("rubric", "test", "shop/rubrics")


def test_a_version_resolves_while_it_is_the_newest():
    version = version_in("quality", newest())
    assert load_rubric(f"quality@{version}").digest == load_rubric("quality").digest


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("quality@7", "rubric 'quality' has no version 7, only quality@1"),
        ("qualty@1", "no rubric named 'qualty@1'; did you mean 'quality'?"),
        ("quality@x", "'quality@x': a version is a whole number from 1; write quality@1, or"),
        ("quality@01", "'quality@01': a version is a whole number from 1; write quality@1, or"),
    ],
)
def test_a_version_that_does_not_exist(name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RubricError) as raised:
        load_rubric(name)
    assert message in str(raised.value)


CHILD = "---\nname: {}\nextends: {}\n---\n{{% block task %}}\nJudge it.\n{{% endblock %}}\n"
TONE = "---\nname: tone\nversion: {}\nextends: {}\ncriteria: {{kind: {{text: {}}}}}\n---\n"


def test_users_keep_versions_beside_a_rubric(tmp_path):
    (tmp_path / VERSIONS).mkdir()
    (tmp_path / "tone.jinja").write_text(TONE.format(2, "base", "Is it kind?"))
    (tmp_path / VERSIONS / "tone@1.jinja").write_text(TONE.format(1, "base", "Is it nice?"))
    (tmp_path / "mild.jinja").write_text("---\nname: mild\nextends: tone@1\n---\n")
    texts = {
        name: load_rubric(name, base=tmp_path).criteria[0].question.text
        for name in ("tone", "tone@1", "tone@2", "mild", str(tmp_path / "tone@1.jinja"))
    }
    assert list(texts.values()) == [
        "Is it kind?", "Is it nice?", "Is it kind?", "Is it nice?", "Is it nice?",
    ]  # fmt: skip


def test_a_frozen_file_has_the_version_of_its_name(tmp_path):
    (tmp_path / VERSIONS).mkdir()
    (tmp_path / VERSIONS / "tone@1.jinja").write_text(TONE.format(3, "base", "Is it nice?"))
    with pytest.raises(RubricError, match="the file name says tone@1, but this is tone@3"):
        load_rubric("tone@1", base=tmp_path)


def test_the_own_rubric_of_a_name_hides_the_builtin_versions(tmp_path):
    text = TONE.replace("tone", "quality").format(2, "base", "Is it kind?")
    (tmp_path / "quality.jinja").write_text(text)
    with pytest.raises(RubricError, match="'quality' has no version 1, only quality@2"):
        load_rubric("quality@1", base=tmp_path)


def test_a_parent_version_that_does_not_exist_is_named(tmp_path):
    (tmp_path / "tone.jinja").write_text(TONE.format(1, "base@9", "Is it kind?"))
    with pytest.raises(RubricError, match="a version that does not exist; there are base@1"):
        load_rubric("tone", base=tmp_path)


def test_a_frozen_version_keeps_digest_and_keys_whatever_changes(tmp_path):
    scratch = first_generation(tmp_path)
    scratch.write("tone.jinja", CHILD.format("tone", "quality"))
    scratch.write("pinned.jinja", CHILD.format("pinned", "quality@1"))
    names = (("quality@1", 2), ("quality", 1), ("./tone", 1), ("./pinned", 2))
    before = printed(scratch, *[(name, 1) for name, _ in names])
    with_quality_2(scratch)
    assert printed(scratch, *names) == before
    newest = printed(scratch, ("quality", 2), ("./tone", 2), ("quality@2", 1))
    first, *_, last = newest.splitlines()[::2]
    assert first.split()[1:] == last.split()[1:]
    assert not hexes(newest) & hexes(before)
    rubrics = scratch.root / "rubrics"
    for file in sorted(rubrics.glob("*.jinja")):
        file.write_text(file.read_text("utf-8").replace("Answer", "Reply").replace("You ", "We "))
    assert printed(scratch, *names) == before


@pytest.mark.parametrize("name", sorted(set(rubric_names()) - {"base"}))
def test_examples_have_the_keys_in_the_order_of_a_reply(name):
    """A judge copies an example: a verdict before its reason would undo "reason first"."""
    rubric = load_rubric(name)
    case = Case(id="a", **dict.fromkeys(("input", "output", "system"), "x"), context=["x"])
    orders = []
    for example in rubric.examples:
        (request,) = RubricMetric(rubric, judge=AbsentJudge("m")).requests(case)[1]
        form = request.form
        wanted = [question.id for question in form.questions]
        shown = next(
            json.loads(line)
            for line in request.messages[0].content.splitlines()
            if line.startswith("{") and json.loads(line) == example.answers
        )
        assert [*shown] == wanted
        for answer in shown.values():
            for part in answer.get("items", [answer]):
                orders.append([key for key in part if key in ("reason", "quotes", "met", "value")])
    assert [order for order in orders if order.index("reason")] == []
