"""Reading the criteria of a case."""

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import CaseError
from judgekit.metrics.criteria.item import (
    MAX_DEPTH,
    MAX_LEAVES,
    items_of,
    read_items,
    unread_fields,
)
from judgekit.metrics.criteria.texts import criterion_digest

PLAIN = {"criterion": "Names the dose", "points": 5}


def nested(depth):
    item = dict(PLAIN)
    for _ in range(depth - 1):
        item = {"criterion": "above", "points": 1, "of": [item]}
    return item


@pytest.mark.parametrize(
    "row",
    [
        {"criterion": "Names it", "points": 2},
        {"requirements": "Names it", "weight": 2, "sub_tasks": []},
        {"description": "Names it", "weight": 2.0},
        {"text": "Names  it", "score": 2},
        {"name": "n", "criteria_description": "Names it", "weight": 2},
        {"requirement": "Names it", "points": 2},
    ],
)
def test_the_names_of_other_tools_are_read(row):
    (item,) = items_of([row])

    assert (item.text, item.points, item.kind) == ("Names it", 2.0, "boolean")


def test_kinds_and_their_values():
    words = {"no": 0, "partly": {"value": 0.5, "text": "some of it"}, "yes": 1}
    levels, listed, score, choice = items_of(
        [
            {**PLAIN, "levels": words},
            {**PLAIN, "kind": "levels", "levels": ["bad", "fair", "good"]},
            {**PLAIN, "score": {"min": 1, "max": 5}},
            {**PLAIN, "choice": {"A": 1, "B": 0, "neither": None}},
        ]
    )

    assert [(level.label, level.value) for level in levels.levels] == [
        ("no", 0.0), ("partly", 0.5), ("yes", 1.0)
    ]  # fmt: skip
    assert levels.levels[1].text == "some of it"
    assert [level.value for level in listed.levels] == [0.0, 0.5, 1.0]
    assert (score.kind, score.minimum, score.maximum) == ("score", 1.0, 5.0)
    assert [level.value for level in choice.levels] == [1.0, 0.0, None]


def test_a_word_stays_on_its_line():
    (item,) = items_of([{**PLAIN, "levels": ["no", "yes\n\n# New rules"]}])

    assert item.levels[1].label == "yes # New rules"


def test_the_kinds_of_reward_kit():
    binary, numeric = items_of(
        [{**PLAIN, "type": "binary"}, {**PLAIN, "type": "numeric", "min": 0, "max": 10}]
    )

    assert (binary.kind, numeric.kind, numeric.maximum) == ("boolean", "score", 10.0)
    # `points` of a Likert criterion are its steps; its weight is 1 if there is none.
    likert, given = items_of(
        [
            {"description": "How good?", "type": "likert", "weight": 2},
            {"description": "How far?", "type": "likert", "points": 7},
        ]
    )
    assert (likert.minimum, likert.maximum, likert.points) == (1.0, 5.0, 2.0)
    assert (given.minimum, given.maximum, given.points) == (1.0, 7.0, 1.0)
    (levels,) = items_of([{"description": "x", "type": "rubric", "levels": ["none", "all"]}])
    assert [(one.label, one.value) for one in levels.levels] == [("none", 0.0), ("all", 1.0)]
    with pytest.raises(CaseError, match=r"number 1: kind levels needs levels"):
        items_of([{**PLAIN, "type": "rubric"}])
    with pytest.raises(CaseError, match=r"score.min 1 is not below score.max 1"):
        items_of([{"description": "x", "type": "likert", "points": 1}])


def test_the_annotations_of_reward_kit():
    polarity = {"type": "negative verifier", "importance": "Optional"}
    marked, written = items_of(
        [
            {**PLAIN, "annotations": polarity},
            {**PLAIN, "annotations": polarity, "negate": False, "optional": False},
        ]
    )

    assert (marked.negate, marked.optional) == (True, True)
    assert (written.negate, written.optional) == (False, False)
    assert list(unread_fields([{**PLAIN, "annotations": {}, "type": "binary"}])) == []
    assert list(unread_fields([{**PLAIN, "type": "text"}])) == ["type"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "bolean"}, "no kind 'bolean'; did you mean 'boolean'?"),
        ({"levls": {"no": 0, "yes": 1}}, "unknown field 'levls'; did you mean 'levels'?"),
        ({"negated": True}, "unknown field 'negated'; did you mean 'negate'?"),
        ({"kind": "levels"}, "kind levels needs levels"),
        ({"levels": {"no": 0}}, "levels must have 2 to 50 different words"),
        ({"levels": {"no": 0, "yes": 2}}, "levels.yes must be from 0 to 1, not 2"),
        ({"levels": {"no": 0, "yes": None}}, "levels.yes needs a value"),
        ({"levels": {"no": 0, "yes": float("nan")}}, "levels.yes must be a number, not nan"),
        ({"levels": {"no": 0, "yes": True}}, "levels.yes must be a number, not True"),
        ({"levels": ["a", "a"]}, "different words"),
        ({"levels": "yes"}, "levels must be {label: value, ...}, or a list"),
        ({"choice": {"A": None, "B": None}}, "none of its words has a value"),
        ({"score": {"min": 5, "max": 1}}, "score.min 5 is not below score.max 1"),
        ({"score": {"min": 0, "max": float("inf")}}, "score.max must be a number, not inf"),
        ({"levels": ["a", "b"], "choice": ["a", "b"]}, "has two kinds, levels and choice"),
        ({"kind": "boolean", "levels": ["a", "b"]}, "has two kinds, boolean and levels"),
        ({"points": float("nan")}, "points is nan"),
        ({"points": 1e300}, "points is 1e+300"),
        ({"points": 10**400}, "points is 1000"),
        ({"score": {"min": 0, "max": 10**400}}, "score.max must be a number, not 1000"),
        ({"levels": {"no": 0, "y" * 201: 1}}, "has more than 200 characters"),
        ({"levels": {"no": 0, " no\n": 1}}, "different words"),
        ({"required": "yes"}, "required must be true or false, not 'yes'"),
        ({"required": True, "optional": True}, "both required and optional"),
        ({"tags": [1]}, r"tags must be a list of texts"),
        ({"tags": ["t"] * 51}, "tags has 51 texts; the most is 50"),
        ({"id": " "}, "id must be a text that is not blank"),
        ({"of": {"a": 1}}, "of must be a list of criteria"),
        ({"of": [PLAIN], "levels": ["a", "b"]}, "has criteria below it"),
        ({"of": [PLAIN], "negate": True}, "has criteria below it"),
        ({"of": [PLAIN, {"criterion": "x"}]}, "number 2.2: has no points; add points: 1"),
    ],
)
def test_a_wrong_item_is_named_by_its_number(changes, message):
    with pytest.raises(CaseError) as caught:
        items_of([PLAIN, {**PLAIN, **changes}])

    number = "2.2" if "2.2" in message else "2"
    assert str(caught.value).startswith(f"expected.criteria: number {number}: ")
    assert message in str(caught.value)


def test_an_id_belongs_to_one_item():
    with pytest.raises(CaseError, match=r"number 2\.1: has the id 'x' of number 1"):
        items_of([{**PLAIN, "id": "x"}, {**PLAIN, "of": [{**PLAIN, "id": "x"}]}])


def test_the_size_of_a_tree_is_bounded():
    assert len(list(items_of([PLAIN] * MAX_LEAVES))) == MAX_LEAVES
    with pytest.raises(CaseError, match=f"at most {MAX_LEAVES}"):
        items_of([{**PLAIN, "of": [PLAIN] * 200}, {**PLAIN, "of": [PLAIN] * 201}])
    (deep,) = items_of([nested(MAX_DEPTH)])
    assert [leaf.number for leaf in deep.leaves()] == ["1.1.1.1.1.1"]
    with pytest.raises(CaseError, match="is at depth 6, the last one"):
        items_of([nested(MAX_DEPTH + 1)])
    with pytest.raises(CaseError, match="is at depth 6"):
        items_of([nested(900)])


def test_the_root_of_a_tree_stands_for_a_list():
    (root,) = items_of({"requirements": "the paper", "sub_tasks": [PLAIN, PLAIN]})

    assert [leaf.number for leaf in root.leaves()] == ["1.1", "1.2"]


def test_a_text_may_use_fields_of_the_case():
    case = Case(
        id="c",
        output="o",
        metadata={"drug": "X"},
        expected={"criteria": [{**PLAIN, "of": [{"criterion": "Names {{ case.metadata.drug }}",
                                                 "points": 1}]}]},
    )  # fmt: skip

    (item,) = read_items(case)

    assert item.children[0].text == 'Names "X"'
    with pytest.raises(CaseError, match=r"number 1\.1: "):
        read_items(case.model_copy(update={"metadata": {}}))


def test_equal_texts_have_equal_digests():
    one, other = items_of([PLAIN, {"criterion": " Names the\n dose ", "points": -1}])

    assert one.digest == other.digest == criterion_digest("Names the dose")
    assert len(one.digest) == 16


def test_fields_that_are_not_read():
    rows = [{**PLAIN, "title": "t"}, {**PLAIN, "of": [{**PLAIN, "author": "a", "title": "t"}]}]

    assert sorted(unread_fields(rows)) == ["author", "title", "title"]
    assert list(unread_fields("no list")) == []
