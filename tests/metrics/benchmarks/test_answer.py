"""Which answer a text states, and by which rule it was found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.yaml_file import parse_yaml
from judgekit.metrics.benchmarks.answer import find_answer
from judgekit.metrics.benchmarks.choice import Choices
from judgekit.metrics.benchmarks.wording import is_number, read_number, wording
from tests.each import each

ROOT = Path(__file__).parents[3]
VECTORS = json.loads((ROOT / "tests" / "data" / "wisent.json").read_text("utf-8"))
CITIES = ("Paris", "Rome", "New York")


def found(text, kind="choice", choices=()):
    return find_answer(text, kind=kind, choices=Choices(tuple(choices)))


def answer(text, kind="choice", choices=()):
    return getattr(found(text, kind, choices), "text", None)


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["metric"] == "choice_extraction"], ids=lambda v: v["id"]
)
def test_choices_are_extracted_as_recorded(vector):
    wanted = vector["expected"]["choice"]

    letter = answer(vector["inputs"]["text"])

    assert letter == (None if wanted is None else "ABCDEFGHIJ"[wanted - 1])


@each(
    ("text", "letter", "rule"),
    [
        ("The answer is B.", "B", "marked"),
        ("The answer to the second question is (c).", "C", "marked"),
        ("**Answer:** D", "D", "marked"),
        ("I'd go with option two.", "B", "marked"),
        ("The answer is A. No, wait: the answer is B.", "B", "marked"),
        (r"The answer is A, so $\boxed{\text{C}}$", "C", "boxed"),
        ("#### E", "E", "####"),
        ("Let me see.\n\n**B**\n", "B", "alone"),
        ("Reasoning first.\nB) because it fits\nThat is all there is to it.", "B", "only option"),
        ("It must be one of them, and it is (d) I think.", "D", "in parentheses"),
        ("On the whole, option B fits best here.", "B", "option word"),
        ("On the whole I like the second option most.", "B", "option word"),
        ("Having read it twice, C fits best.", "C", "bare letter"),
        ("A: x\nB: y\nC: z\nI think B fits best of these.", "B", "bare letter"),
        ("b", "B", "whole text"),
    ],
)
def test_each_rule_for_choices_fires(text, letter, rule):
    assert found(text)[:2] == (letter, rule)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot decide.",
        "A dog barked at us all the way.",
        "The answer is a matter of taste.",
        "I think I know it.",
        "The answer is either A or B.",
        "A or B",
        "A) x\nB) y\nC) z",
        "The answer is unknown.",
        "It is certainly not B.",
        "The plan B-12 has vitamin in it, and so has Ab.",
    ],
)
def test_near_misses_name_no_choice(text):
    assert found(text) is None


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The answer is Rome, which is old.", "B"),
        ("It must be New York in the end.", "C"),
        ("Not Rome but Paris in the end, I should say.", "A"),
        ("Paris or Rome, one of the two, it must be.", None),
        ("Parisians say so.", None),
        ("The answer is B, Rome", "B"),
        ("The answer is D", None),
    ],
)
def test_the_text_of_a_choice_names_it(text, letter):
    assert answer(text, choices=CITIES) == letter


def test_the_text_of_a_choice_comes_before_its_place():
    assert answer("The answer is 2.", choices=["2", "4"]) == "A"
    assert answer("The answer is 2.", choices=["x", "y"]) == "B"


@pytest.mark.parametrize(
    ("text", "number", "rule"),
    [
        ("The answer is 2 + 2 = 4.", "4", "marked"),
        ("#### 1,234", "1,234", "####"),
        (r"so \boxed{\frac{3}{4}}", "3/4", "boxed"),
        ("First 5, then 7 more make 12.", "12", "last number"),
        ("x = -3", "-3", "last number"),
        ("It grew by .5 % from 7-3", "3", "last number"),
        ("We pay:\n1. rent\n2. food\nTogether $1,200.50", "$1,200.50", "last number"),
        ("The answer is 5. Wait, I mis-added: the answer is 6", "6", "marked"),
    ],
)
def test_each_rule_for_numbers_fires(text, number, rule):
    assert found(text, "number")[:2] == (number, rule)


@pytest.mark.parametrize("text", ["none at all", "1. first\n2. second", "v2x", "twelve"])
def test_near_misses_hold_no_number(text):
    assert found(text, "number") is None


@each(
    ("text", "value"),
    [
        ("1,000", "1000"),
        ("1.50", "3/2"), ("-7", "-7"), ("−7", "-7"), ("-$7", "-7"), ("$-7", "-7"),
        ("3/4", "3/4"), ("50 %", "50"), ("1e3", "1000"), ("٣", "3"), ("12 cm", "12"),
        ("1/0", "None"), ("one", "None"), ("9" * 401, "None"), ("1,00", "1"),
    ],
)  # fmt: skip
def test_numbers_are_read_exactly(text, value):
    assert str(read_number(text)) == value


def test_what_is_only_a_number_is_told_from_what_holds_one():
    assert [is_number(text) for text in ("7", "$7.00", "7 %", "7 apples", "")] == [
        True, True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Yes, it is.", "yes"),
        ("The answer is no.", "no"),
        ("Yes at first sight... but on reflection, no.", "no"),
        ("**True**", "yes"),
        ("I have no idea.", None),
        ("It is true that they said so.", None),
        ("Nothing of the kind", None),
    ],
)
def test_yes_and_no_count_where_they_are_set_off(text, said):
    assert answer(text, "yes_no") == said


@pytest.mark.parametrize(
    ("text", "said", "rule"),
    [
        ("Well. The answer is **Dr. Smith**, of Leeds.", "Dr. Smith, of Leeds", "marked"),
        ("Final answer: Paris.", "Paris", "marked"),
        ("Paris", "Paris", "whole text"),
        ("Let me think.\n\nParis.\n", "Paris", "last line"),
    ],
)  # fmt: skip
def test_each_rule_for_texts_fires(text, said, rule):
    assert found(text, "text")[:2] == (said, rule)


DATA = parse_yaml(
    (ROOT / "judgekit" / "metrics" / "data" / "benchmarks" / "answers.yaml").read_text("utf-8"),
    file="answers",
)[0]


@each("noun", DATA["nouns"])
@each("copula", DATA["copulas"])
def test_every_phrase_fires_and_a_near_miss_does_not(noun, copula):
    assert wording().marker.search(f"So the {noun} {copula} B")
    assert not wording().marker.search(f"So the {noun}ed thing {copula} B")
    assert not wording().marker.search(f"So the {noun} B")


@each("phrase", DATA["phrases"])
def test_every_phrase_that_stands_alone_fires_and_a_near_miss_does_not(phrase):
    assert answer(f"Well, {phrase} B") == "B"
    assert not wording().marker.search(f"{phrase}ed B")


@pytest.mark.parametrize("word", DATA["between"])
def test_words_between_noun_and_verb_are_passed_over(word):
    assert found(f"The answer {word} question two is B")[:2] == ("B", "marked")
    assert not wording().marker.search(f"The answer {word}wards is B")


@pytest.mark.parametrize("word", DATA["negations"])
def test_a_negated_statement_is_none(word):
    assert found(f"The answer is {word} 7 of them", "yes_no") is None
    assert not list(filter(None, [wording().negation.match(f" {word}x")]))


@pytest.mark.parametrize("word", DATA["choice_words"])
def test_words_before_a_letter_are_passed_over(word):
    assert found(f"All things considered, {word} C it is then.")[:2] == ("C", "option word")
    assert found(f"All things considered, {word}al c it is then.") is None


@pytest.mark.parametrize("place", range(len(DATA["ordinals"])))
def test_number_words_name_places(place):
    for word in DATA["ordinals"][place]:
        assert answer(f"The answer is option {word}") == "ABCDEFGH"[place]
        assert answer(f"The answer is option {word}ish") is None


@each("word", DATA["after_letter"])
def test_a_letter_is_told_from_the_article_by_what_follows(word):
    assert answer(f"The answer is A {word} C is wrong") in (
        "A",
        None if word in ("and", "or", ",") else "A",
    )
    assert answer(f"The answer is A {word.strip(',')}x dog") is None


def entries(*keys):
    return [pytest.param(word, id=word) for key in keys for word in DATA[key]]


@each("cue", entries("rejects_before", "rejects_choice_before"))
def test_a_word_before_a_choice_rejects_it_and_a_near_miss_does_not(cue):
    assert answer(f"Having read it, {cue} B, D") == "D"
    assert answer(f"Having read it, {cue} the option B. D") == "D"
    assert answer(f"Having read it, {cue}ish B, D") is None


@each("cue", entries("rejects_before"))
def test_a_word_before_a_number_rejects_it(cue):
    assert answer(f"Having counted, 12 it is, {cue} 10", "number") == "12"
    assert answer(f"Having counted, 12 {cue}ish 10", "number") == "10"


@each("filler", entries("fillers"))
def test_words_between_a_rejection_and_a_choice_are_passed_over(filler):
    assert answer(f"Having read it all, not {filler} B. D") == "D"
    assert answer(f"Having read it all, not {filler}lessly B, D") is None


@each("cue", entries("rejects_after"))
def test_words_after_a_choice_reject_it_and_a_near_miss_does_not(cue):
    assert answer(f"Here B {cue} so D") == "D"
    assert answer(f"Here B {cue}ish so D") is None


@pytest.mark.parametrize("cue", entries("affirms_after"))
def test_the_choice_that_is_called_the_answer_is_the_answer(cue):
    assert answer(f"Now B {cue} and D a distractor of the test.") == "B"
    assert answer(f"Now B {cue}ish and then D of all of them.") is None


@each("cue", entries("corrections"))
def test_a_correction_takes_back_what_came_before(cue):
    assert answer(f"I would take B here - {cue}, D of all of them") == "D"
    assert answer(f"The answer is B. {cue}, D") == "D"
    assert answer(f"I would take B here - {cue}tion of D of all of them") is None


@pytest.mark.parametrize("word", entries("not_corrections"))
def test_no_doubt_is_no_correction(word):
    assert answer(f"I would take B here, no {word} D of all of them") is None


@pytest.mark.parametrize("cue", entries("contrasts"))
def test_of_a_contrast_the_second_choice_counts_unless_it_is_hedged(cue):
    assert answer(f"Here B is close, {cue} D of all fits.") == "D"
    for hedge in DATA["hedges"]:
        assert answer(f"Here B is close, {cue} {hedge} D of all fits.") is None


@pytest.mark.parametrize("side", ["yes", "no"])
def test_every_word_for_yes_and_no_fires_where_it_is_set_off(side):
    for word in DATA[f"says_{side}"]:
        assert answer(f"Hm. {word}!", "yes_no") == side
        assert answer(f"Hm. {word}ish", "yes_no") is None
    for phrase in DATA[f"{side}_phrases"]:
        assert answer(f"Hm. {phrase}.", "yes_no") == side
        assert answer(f"Hm. {phrase} they said.", "yes_no") is None
    for text in DATA[f"{side}_texts"]:
        assert answer(f"{text}.", "yes_no") == side
        assert answer(f"{text}, as I might put it.", "yes_no") is None


@each("word", entries("assurances", "boosters"))
def test_assurances_change_no_answer_and_alone_say_yes(word):
    assert answer(f"{word} no", "yes_no") == answer(f"{word} not", "yes_no") == "no"
    assert answer(f"yes {word}", "yes_no") == "yes"
    assert answer(f"{word}.", "yes_no") == ("yes" if word in DATA["assurances"] else None)
    assert answer(f"{word}ish no", "yes_no") is None


@each("lead", entries("leads"))
def test_words_before_yes_and_no_are_passed_over(lead):
    assert answer(f"Hm. {lead} no", "yes_no") == "no"
    assert answer(f"Hm. {lead}er no", "yes_no") is None


@pytest.mark.parametrize("subject", entries("subjects"))
def test_a_sentence_that_calls_something_right_or_wrong_is_an_answer(subject):
    for right in DATA["right"]:
        assert answer(f"Hm. {subject} is {right}.", "yes_no") == "yes"
        assert answer(f"Hm. {subject} is not {right}.", "yes_no") == "no"
    for wrong in DATA["wrong"]:
        assert answer(f"Hm. {subject} isn't {wrong}.", "yes_no") == "yes"
        assert answer(f"Hm. {subject} is {wrong} of them.", "yes_no") is None


@given(st.text(), st.sampled_from(["choice", "number", "text", "yes_no"]))
def test_any_text_gives_an_answer_of_its_kind_or_none(text, kind):
    first = found(text, kind)

    assert first == found(text, kind)
    if first is not None:
        assert first.text.strip()
        assert kind != "number" or is_number(first.text) or len(first.text) > 20
        assert kind != "choice" or first.text in "ABCDEFGHIJ"
        assert kind != "yes_no" or first.text in ("yes", "no")


@given(st.text(alphabet="xyz .\n", max_size=60), st.sampled_from("BCDEFGHJ"))
def test_a_marked_answer_at_the_end_is_found_whatever_comes_before(before, letter):
    assert answer(f"{before}\nThe answer is {letter}") == letter
