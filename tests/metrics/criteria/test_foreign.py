"""Criteria in the shapes of other tools: each is read right, or refused in one line."""

import json

import pytest

from judgekit.core.errors import CaseError
from judgekit.metrics.criteria.item import items_of, leaves_of, unread_fields

A = {"criterion": "Names the dose", "points": 5}
B = {"description": "Suits a layperson", "weight": 2}


@pytest.mark.parametrize(
    ("listed", "read"),
    [
        ({"dose": A, "tone": B}, [("dose", 5), ("tone", 2)]),
        ({"dose": {**A, "id": "own"}}, [("own", 5)]),
        (json.dumps([A, B]), [(None, 5), (None, 2)]),
        (json.dumps({"dose": A}), [("dose", 5)]),
        (json.dumps({"requirements": "All", "sub_tasks": [A]}), [(None, 5)]),
        ({"requirements": "All", "weight": 3, "sub_tasks": [A, B]}, [(None, 5), (None, 2)]),
        ([{**A, "weight": 5}], [(None, 5)]),
        ([{**A, "max_points": None, "reverse": False, "options": []}], [(None, 5)]),
    ],
)
def test_other_shapes_are_read(listed, read):
    assert [(one.id, one.points) for one in leaves_of(items_of(listed))] == read
    unread = set(unread_fields(listed))
    assert unread <= {"max_points", "reverse", "options"}


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ("[{'criterion': 'A', 'points': 1}]", "is a text that is no JSON"),
        ('[{"criterion": "A", "points": NaN}]', "points is nan"),
        ("[" * 100_000, "is a text that is no JSON"),
        ({"rubrics": [A]}, "has its list under 'rubrics'; map that"),
        ({"title": "R", "criteria": [A]}, "has its list under 'criteria'; map that"),
        ({"a": "Names the dose"}, "needs expected.criteria: a list of"),
        (["Names the dose"], "number 1: must be {criterion: text, points: number}, not 'Names"),
        ([[A]], "number 1: must be {criterion: text, points: number}, not [{"),
        ([{**A, "points": "5"}], "points is '5', a text; write a number"),
        ([{**A, "points": "Essential"}], "points is 'Essential', a text; write a number"),
        ([{**A, "weight": 2}], "has points 5 and weight 2; remove all but one"),
        ([{**B, "score": 0.8}], "has weight 2 and score 0.8; remove all but one"),
        ([{"criterion": "A"}], "has no points; add points: 1"),
        ([{"criterion": "A", "importance": 3}], "is it 'importance'? Rename it to points"),
        ([{"question": "A?", "points": 1}], "is it 'question'? Rename it to criterion"),
        ([{**A, "children": [B]}], "has criteria under 'children'; write them under 'of'"),
        ([{**A, "subtasks": [B]}], "has criteria under 'subtasks'; write them under 'of'"),
        ([{**A, "scale": [1, 5]}], "scale would change the verdict; write score: {min"),
        ([{**A, "max_points": 5}], "max_points would change the verdict"),
        ([{**A, "scoring": {"0": "none"}}], "write levels: {word: value from 0 to 1}"),
        ([{**A, "is_negative": True}], "write negate: true, or negative points"),
        ([{**A, "type": "Negative"}], "type: Negative would change the verdict"),
        ([{**A, "type": "scale"}], "write score: {min"),
        ([{**A, "polarity": "negative"}], "write negate: true"),
        ([{**A, "min": 0, "max": 10}], "min belongs to a score; write score: {min"),
        ([{**A, "max": 10}], "max belongs to a score; write score: {min"),
        ([{**A, "tags": "axis:a, axis:b"}], "not the text 'axis:a, axis:b'"),
        ([{**A, "tags": '["axis:a"]'}], "tags must be a list of texts, not the text"),
    ],
)
def test_what_would_be_another_verdict_is_refused(listed, message):
    with pytest.raises(CaseError) as caught:
        items_of(listed)

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_second_text_is_named_as_unread():
    assert list(unread_fields([{**A, "description": "More of it"}])) == ["description"]
