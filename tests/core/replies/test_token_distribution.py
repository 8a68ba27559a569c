from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.judgment import read_reply
from judgekit.core.replies.token_distribution import MAX_LISTED, MAX_TOKENS, token_distributions
from judgekit.core.request import Form, Question, Reply, Try

from .token_streams import answer, distribution, stream, text_of

STARS = Question(id="q", kind="score", text="t", minimum=1, maximum=5)
TEN = Question(id="q", kind="score", text="t", minimum=1, maximum=10)
LEVELS = Question(id="q", kind="score", text="t", labels=("good", "fair", "bad"))
TRUTH = Question(id="q", kind="boolean", text="t")
OPEN = TRUTH.model_copy(update={"nullable": True})


def shares(found):
    assert found is not None
    assert sum(found.probabilities) == pytest.approx(1)
    return {label: pytest.approx(p) for label, p in found.items() if p}


def test_variants_of_a_number_are_merged():
    others = {
        " 5": 0.2,
        "5": 0.05,
        '"4': 0.03,
        ' "four"': 0.02,
        " Four": 0.01,
        " 4.0": 0.04,
        "?": 0.05,
    }

    found = distribution(STARS, *answer((" 4", 0.6, others)))

    # 4: .6 + .03 + .02 + .01 + .04 = .70; 5: .2 + .05 = .25
    assert found.source == "logprobs"
    assert found.labels == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert found.mass == pytest.approx(0.95)
    assert shares(found) == {4.0: 0.70 / 0.95, 5.0: 0.25 / 0.95}
    assert found.expected == pytest.approx((4 * 0.70 + 5 * 0.25) / 0.95)


def test_mass_of_legal_answers_is_kept_beside_them():
    found = distribution(STARS, *answer((" 4", 0.35, {" 3": 0.25, " 7": 0.3, " N": 0.1})))

    assert found.mass == pytest.approx(0.6)
    assert shares(found) == {3.0: 0.25 / 0.6, 4.0: 0.35 / 0.6}
    assert found.bound == pytest.approx(0)


def test_tokens_of_a_word_are_multiplied_along_the_path():
    found = distribution(
        LEVELS,
        *answer(
            (' "', 0.9, {" null": 0.1}),
            ("go", 0.7, {"bad": 0.2, "f": 0.1}),
            ("od", 0.8, {"ne": 0.2}),
            '"',
        ),
    )

    # good: .9 * .7 * .8 = .504; bad: .9 * .2 = .18; fair by its only prefix: .9 * .1 = .09
    assert found.labels == ("good", "fair", "bad")
    assert found.mass == pytest.approx(0.774)
    assert shares(found) == {"good": 0.504 / 0.774, "fair": 0.09 / 0.774, "bad": 0.18 / 0.774}


def test_quotation_mark_may_open_with_the_token_or_the_colon():
    apart = distribution(LEVELS, *answer(' "', ("good", 0.7, {"bad": 0.3}), '"'))
    together = distribution(LEVELS, *answer((' "good', 0.7, {' "bad': 0.3}), '"'))
    steps = (
        '{"q":{"reason":"", "value',
        ('":"', 0.9, {'":': 0.1}),
        ("good", 0.7, {"bad": 0.3}),
        '"}}',
    )
    colon = distribution(LEVELS, *steps)

    assert shares(apart) == shares(together) == shares(colon) == {"good": 0.7, "bad": 0.3}
    assert apart.mass == together.mass == pytest.approx(1)
    assert colon.mass == pytest.approx(0.9)  # a colon alone leaves open what follows it


def test_alternatives_must_begin_like_the_token_before_the_value():
    steps = (
        '{"q":{"reason":"","value"',
        (":true", 0.6, {": false": 0.3, "false": 0.05, ",": 0.05}),
        "}}",
    )

    found = distribution(TRUTH, *steps)

    assert shares(found) == {True: 0.6 / 0.9, False: 0.3 / 0.9}


def test_case_of_words_makes_no_difference_unless_it_tells_two_apart():
    merged = distribution(LEVELS, *answer(' "', ("good", 0.5, {"Good": 0.3, "BAD": 0.2}), '"'))
    grades = Question(id="q", kind="choice", text="t", labels=("a", "A"))
    apart = distribution(grades, *answer(' "', ("a", 0.6, {"A": 0.4}), '"'))

    assert shares(merged) == {"good": 0.8, "bad": 0.2}
    assert shares(apart) == {"a": 0.6, "A": 0.4}


def test_yes_no_and_cannot_tell():
    steps = answer((" true", 0.5, {" false": 0.2, " null": 0.1, "True": 0.1, ' "no"': 0.1}))

    assert shares(distribution(OPEN, *steps)) == {True: 0.6, False: 0.3, None: 0.1}
    closed = distribution(TRUTH, *steps)
    assert closed.mass == pytest.approx(0.9)
    assert closed.yes == pytest.approx(0.6 / 0.9)


def test_null_is_an_answer_that_can_be_followed():
    found = distribution(OPEN, *answer((" null", 0.6, {" true": 0.4})))

    assert shares(found) == {None: 0.6, True: 0.4}
    assert found.labels == (True, False, None)


def test_prefix_of_several_labels_is_bounded_and_not_guessed():
    found = distribution(TEN, *answer((" ", 1.0, {}), ("7", 0.6, {"1": 0.3, "8": 0.1})))

    # "1" may be 1 or 10: 7 has .6 to .6 + 0 of 1, and 1 or 10 up to .3
    assert found.mass == pytest.approx(0.7)
    assert shares(found) == {7.0: 0.6 / 0.7, 8.0: 0.1 / 0.7}
    assert found.bound == pytest.approx(0.3)  # (0 + .3) / (.7 + .3)


def test_number_that_begins_another_is_followed_to_its_end():
    found = distribution(
        TEN, *answer((" 1", 0.8, {" 2": 0.2}), ("}", 0.7, {"0": 0.2, "\n": 0.1}), "}")[:-1]
    )

    # 1: .8 * (.7 + .1); 10: .8 * .2
    assert shares(found) == {1.0: 0.64, 2.0: 0.2, 10.0: 0.16}


def test_answers_that_are_not_listed_are_bounded_by_the_last_one_listed():
    found = distribution(STARS, *answer((" 4", 0.6, {" 5": 0.2, " 3": 0.05})))

    # .15 is not listed; 1 and 2 have at most .05 each, and so have further spellings of 3 to 5
    assert shares(found) == {4.0: 0.6 / 0.85, 5.0: 0.2 / 0.85, 3.0: 0.05 / 0.85}
    # the farthest is 4, if the .15 belongs to others: .6 / .85 - .6 / 1
    assert found.bound == pytest.approx(0.6 / 0.85 - 0.6)
    sure = distribution(STARS, *answer((" 4", 0.989, {" 5": 0.01})))
    assert sure.bound == pytest.approx(0.001, abs=1e-4)


def test_token_that_is_not_among_the_listed_counts():
    data = stream(*answer((" 4", 0.05, {" 5": 0.6, " 3": 0.3})))
    top = data["content"][8]["top_logprobs"]
    del top[0]

    attempt = Try(text=text_of(answer(" 4")), logprobs=data)
    found = token_distributions(attempt, Form(questions=(STARS,)))["q"]

    assert shares(found) == {4.0: 0.05 / 0.95, 5.0: 0.6 / 0.95, 3.0: 0.3 / 0.95}


def test_characters_may_be_split_over_tokens():
    question = Question(id="q", kind="choice", text="t", labels=("größer", "gleich", "日本"))
    steps = answer(
        ' "', ("gr", 0.8, {"gle": 0.15, b"\xe6": 0.05}), b"\xc3", b"\xb6\xc3\x9f", "er", '"'
    )
    found = distribution(question, *steps)

    assert shares(found) == {"größer": 0.8, "gleich": 0.15, "日本": 0.05}
    assert found.mode == "größer"


def test_half_a_character_that_a_server_holds_back():
    # llama.cpp sends the bytes with the token that completes them; ids tell what was sampled.
    question = Question(id="q", kind="choice", text="t", labels=("é", "a"))
    data = stream(*answer(' "', ("", 0.7, {"a": 0.3}), "é", '"'))
    held = data["content"][9]
    held["id"], held["top_logprobs"][0] = (
        7,
        {"id": 7, "token": "", "bytes": [0xC3], "logprob": math.log(0.7)},
    )

    attempt = Try(text=text_of(answer(' "é"')), logprobs=data)
    found = token_distributions(attempt, Form(questions=(question,)))["q"]

    assert shares(found) == {"é": 0.7, "a": 0.3}


def test_tokens_as_text_alone():
    found = distribution(STARS, *answer((" 4", 0.75, {" 5": 0.25})), bare=True)

    assert shares(found) == {4.0: 0.75, 5.0: 0.25}


def test_half_characters_in_a_reason_may_be_replaced():
    steps = (
        '{"q": {"reason": "a ',
        b"\xf0\x9f",
        b"\x98\x80",
        ' b", "value": ',
        ("4", 0.5, {"5": 0.5}),
        "}}",
    )
    data = stream(*steps, bare=True)  # the text of each half is U+FFFD

    def found(text):
        return token_distributions(Try(text=text, logprobs=data), Form(questions=(STARS,)))

    assert shares(found(text_of(steps))["q"]) == {4.0: 0.5, 5.0: 0.5}
    assert found(text_of(steps).replace("a ", "c ")) == {}


def test_word_in_escapes_is_the_same_word():
    question = Question(id="q", kind="choice", text="t", labels=("größer", 'say "a"'))
    first = distribution(
        question, *answer(' "', ("gr", 0.6, {"say": 0.4}), "\\u00f6\\u00df", "er", '"')
    )
    second = distribution(question, *answer(' "', ("say", 0.6, {"g": 0.4}), ' \\"', "a", '\\""'))

    assert shares(first) == {"größer": 0.6, 'say "a"': 0.4}
    assert shares(second) == {'say "a"': 0.6, "größer": 0.4}


def test_label_that_begins_another():
    question = Question(id="q", kind="choice", text="t", labels=("good", "good enough"))
    found = distribution(question, *answer(' "', "good", ('"', 0.7, {" enough": 0.2, '",': 0.1})))

    assert shares(found) == {"good": 0.8, "good enough": 0.2}


def test_words_of_digits_and_digits_of_words():
    digits = Question(id="q", kind="choice", text="t", labels=("1", "2"))
    words = Question(id="q", kind="choice", text="t", labels=("one", "two"))

    assert shares(distribution(digits, *answer(' "', ("1", 0.6, {"two": 0.4}), '"'))) == {
        "1": 0.6,
        "2": 0.4,
    }
    assert shares(distribution(words, *answer(' "', ("one", 0.6, {"2": 0.4}), '"'))) == {
        "one": 0.6,
        "two": 0.4,
    }


def test_negative_numbers():
    question = Question(id="q", kind="score", text="t", minimum=-2, maximum=2)
    found = distribution(
        question, *answer((" -", 0.6, {" ": 0.1, " 2": 0.3}), ("1", 0.5, {"2": 0.5}))
    )

    assert shares(found) == {-2.0: 0.3 / 0.9, -1.0: 0.3 / 0.9, 2.0: 0.3 / 0.9}
    assert found.bound > 0.05  # the white space may become 0, 1 or 2


@pytest.mark.parametrize(
    "question",
    [
        Question(id="q", kind="score", text="t"),  # 0..1: fractions
        Question(id="q", kind="score", text="t", minimum=1, maximum=2),
        Question(id="q", kind="score", text="t", minimum=0.5, maximum=4),
        Question(id="q", kind="score", text="t", minimum=0, maximum=1000),
    ],
    ids=["fractions", "one step", "half bounds", "many steps"],
)
def test_numbers_without_a_scale_of_whole_numbers_have_none(question):
    assert distribution(question, *answer((" 1", 0.6, {" 2": 0.4}))) is None


def test_number_between_two_whole_ones_has_none():
    assert distribution(STARS, *answer((" 4", 1.0, {}), ".", "5")) is not None  # 4 is decided first
    assert distribution(STARS, *answer((" 4.5", 0.6, {" 5": 0.4}))) is None


# -- where the value is ---------------------------------------------------------------------------

VALUE = ("4", 0.6, {"5": 0.4})
OBJECT = ('{"q": {"reason": "the \\"value\\": 3", ', '"value": ', VALUE, "}}")


@pytest.mark.parametrize(
    "around",
    [
        ((), ()),
        (("\n\n",), ("<|im_end|>",)),
        (("Here it is: ",), (" - my verdict.",)),
        (("Surely.\n```json\n",), ("\n```\n",)),
        (('<think>{"q": {"reason": "", "value": 2}} or 3?</think>\n',), ()),
        (('<tool_call>\n{"name": "verdict", "arguments": ',), ("}\n</tool_call>",)),
        (('[TOOL_CALLS][{"name": "verdict", "arguments": ',), ("}]",)),
        (('It\'s "quoted {{{" \\" ',), ('"',)),
    ],
)
def test_value_is_found_whatever_is_around_it(around):
    before, after = around
    text = text_of(OBJECT)

    found = distribution(STARS, *before, *OBJECT, *after, text=text)

    assert shares(found) == {4.0: 0.6, 5.0: 0.4}


def test_text_with_a_thought_of_the_same_object():
    draft = '<think>{"q": {"reason": "the \\"value\\": 3", "value": 4}}</think>'
    found = distribution(STARS, draft, *OBJECT)

    assert shares(found) == {4.0: 0.6, 5.0: 0.4}


def test_arguments_may_be_written_with_other_white_space():
    text = json.dumps(json.loads(text_of(OBJECT)), indent=3)

    assert shares(distribution(STARS, "<|tool|>", *OBJECT, text=text)) == {4.0: 0.6, 5.0: 0.4}


def test_each_criterion_has_its_own_tokens():
    questions = (
        STARS.model_copy(update={"id": "reason"}),
        TRUTH.model_copy(update={"id": "tone.polite"}),
        Question(id="list", kind="checklist", text="t"),
        LEVELS.model_copy(update={"id": "value"}),
    )
    steps = (
        '{"reason": {"reason": "value: 3", "value": ', VALUE,
        '}, "tone.polite": {"reason": "", "value": ', ("true", 0.9, {"false": 0.1}),
        '}, "list": {"items": [{"item": "a", "reason": "value", "met": true}]}',
        ', "value": {"reason": "", "value": ', ' "', ("bad", 0.5, {"good": 0.5}), '"}}',
    )  # fmt: skip

    reply = Reply(tries=(Try(text=text_of(steps), logprobs=stream(*steps)),))
    judgment = read_reply(reply, form=Form(questions=questions), request_key="k")

    found = {id: answer.distribution for id, answer in judgment.answers.items()}
    assert shares(found["reason"]) == {4.0: 0.6, 5.0: 0.4}
    assert shares(found["tone.polite"]) == {True: 0.9, False: 0.1}
    assert shares(found["value"]) == {"good": 0.5, "bad": 0.5}
    assert found["list"] is None
    assert {id: answer.value for id, answer in judgment.answers.items()} == {
        "reason": 4.0, "tone.polite": True, "list": None, "value": "bad",
    }  # fmt: skip


def test_repaired_replies_have_none():
    comma = ('{"q": {"reason": "", "value": ', VALUE, ",}}")
    reply = Reply(tries=(Try(text=text_of(comma), logprobs=stream(*comma)),))

    judgment = read_reply(reply, form=Form(questions=(STARS,)), request_key="k")

    assert judgment.repairs == ("trailing_comma",)
    assert judgment.answers["q"].value == 4
    assert judgment.answers["q"].distribution is None


def test_reading_twice_does_not_change_the_parsed_answers():
    steps = answer((" 4", 0.6, {" 5": 0.4}))
    attempt = Try(text=text_of(steps), logprobs=stream(*steps))
    form = Form(questions=(STARS,))

    first, second = (
        read_reply(Reply(tries=(attempt,)), form=form, request_key="k") for _ in range(2)
    )
    plain = Reply(tries=(attempt.model_copy(update={"logprobs": None}),))

    assert first == second
    assert read_reply(plain, form=form, request_key="k").answers["q"].distribution is None


RECORDED = json.loads((Path(__file__).parents[2] / "data" / "llama_server_tokens.json").read_text())
"""Output mode -> what llama-server (of llama-cpp-python 0.3.36) sent for a model of one table.

The probability of each token of this model follows from the one before it alone. After a space:
"4" .5, "5" .3, "2" .1, "four" .05, "7" .05.
"""


@pytest.mark.parametrize("mode", RECORDED)
def test_tokens_of_a_llama_server(mode):
    attempt = Try.model_validate(RECORDED[mode])
    stars = STARS.model_copy(update={"id": "stars"})

    found = token_distributions(attempt, Form(questions=(stars,)))["stars"]

    assert found.mass == pytest.approx(0.95, abs=1e-4)
    assert found.probabilities == pytest.approx(
        (0, 0.1 / 0.95, 0, 0.55 / 0.95, 0.3 / 0.95), abs=1e-4
    )
    assert found.bound < 1e-4
    tokens = [token["token"] for token in RECORDED[mode]["logprobs"]["content"]]
    assert (attempt.text == "".join(tokens)) is (mode != "tools")


# -- log-probabilities that cannot be ----------------------------------------------------------


def changed(change):
    """Return good log-probabilities after a change of the list and of the deciding token."""
    data = stream(*answer((" 4", 0.6, {" 5": 0.4})))
    replaced = change(data, data["content"][8])
    return data if replaced is None else replaced


ODD = {
    "no dict": lambda data, token: [1, 2],
    "a word": lambda data, token: "logprobs",
    "no content": lambda data, token: {"content": None},
    "empty": lambda data, token: {"content": []},
    "older form": lambda data, token: {"tokens": ["4"], "token_logprobs": [-0.1]},
    "no tokens": lambda data, token: {"content": [None, 3]},
    "text is a number": lambda data, token: token.update(token=4, bytes=None),
    "bytes are words": lambda data, token: token.update(bytes=["a"]),
    "bytes too large": lambda data, token: token.update(bytes=[300]),
    "bytes too many": lambda data, token: token.update(bytes=[52] * 100_000),
    "other text": lambda data, token: token.update(bytes=list(b" 3")),
    "less text": lambda data, token: data["content"].__delitem__(-1),
    "no figure": lambda data, token: token.update(logprob=None),
    "a flag": lambda data, token: token.update(logprob=True),
    "a word as figure": lambda data, token: token.update(logprob="-1"),
    "NaN": lambda data, token: token.update(logprob=math.nan),
    "positive": lambda data, token: token.update(logprob=0.5),
    "infinite": lambda data, token: token.update(logprob=math.inf),
    "huge": lambda data, token: token.update(logprob=10**400),
    "no list": lambda data, token: token.update(top_logprobs=None),
    "empty list": lambda data, token: token.update(top_logprobs=[]),
    "dict for list": lambda data, token: token.update(top_logprobs={" 4": -0.5}),
    "odd alternative": lambda data, token: token["top_logprobs"].append(3),
    "NaN alternative": lambda data, token: token["top_logprobs"][1].update(logprob=math.nan),
    "too probable": lambda data, token: token["top_logprobs"][1].update(logprob=-0.1),
    "endless list": lambda data, token: token.update(
        top_logprobs=token["top_logprobs"] + token["top_logprobs"][1:] * MAX_LISTED
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_log_probabilities_give_no_distribution(name):
    steps = answer(" 4")
    attempt = Try.model_construct(text=text_of(steps), logprobs=changed(ODD[name]))

    judgment = read_reply(
        Reply.model_construct(tries=(attempt,), model=None),
        form=Form(questions=(STARS,)),
        request_key="k",
    )

    assert judgment.answers["q"].value == 4
    assert judgment.answers["q"].distribution is None


def test_lowest_and_rounded_figures_count_as_0_and_1():
    data = stream(*answer((" 4", 1.0, {" 5": 0.0, " 3": 0.0})))
    top = data["content"][8]["top_logprobs"]
    top[0]["logprob"] = data["content"][8]["logprob"] = 1e-7
    top[1]["logprob"], top[2]["logprob"] = -3.4028234663852886e38, -(10**400)

    attempt = Try.model_construct(text=text_of(answer(" 4")), logprobs=data)
    found = token_distributions(attempt, Form(questions=(STARS,)))["q"]

    assert shares(found) == {4.0: 1.0}
    assert found.mass == 1.0


@pytest.mark.parametrize(
    "text",
    [
        '{"q":' * 100_000,
        '{"q": "' + '\\"' * 200_000,
        '"' * 400_000,
        '{"q":{' * 60_000 + "}" * 60_000,
        " " * 400_000,
    ],
    ids=["starts", "escapes", "quotes", "nested", "spaces"],
)
def test_hostile_streams_are_read_in_linear_time(text):
    # A quadratic scanner would take minutes here.
    steps = answer((" 4", 0.6, {" 5": 0.4}))
    data = stream(text, *steps)

    attempt = Try(text=text_of(steps), logprobs=data)
    found = token_distributions(attempt, Form(questions=(STARS,)))

    assert shares(found["q"]) == {4.0: 0.6, 5.0: 0.4}


def test_too_many_tokens_have_none():
    steps = answer((" 4", 0.6, {" 5": 0.4}))
    data = stream(*steps)
    data["content"] += [{"token": "", "logprob": 0.0}] * MAX_TOKENS

    assert (
        token_distributions(Try(text=text_of(steps), logprobs=data), Form(questions=(STARS,))) == {}
    )


odd = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["content", "token", "bytes", "logprob", "top_logprobs", "id"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(
    st.dictionaries(st.just("content"), odd, min_size=1) | odd,
    st.sampled_from([STARS, LEVELS, OPEN]),
)
def test_anything_as_log_probabilities_is_no_error(logprobs, question):
    attempt = Try.model_construct(text=text_of(answer(" 4")), logprobs=logprobs)

    assert token_distributions(attempt, Form(questions=(question,))) == {}


@given(
    st.lists(st.floats(0.001, 1), min_size=5, max_size=5),
    st.integers(1, 5),
    st.sampled_from(["", " ", "\n  "]),
    st.integers(0, 4),
)
def test_listed_numbers_have_their_share(weights, judged, space, cut):
    total = sum(weights) + 0.1
    p = {number: weight / total for number, weight in enumerate(weights, start=1)}
    others = {
        f"{space}{number}": p[number] for number in sorted(p, key=p.get)[cut:] if number != judged
    }

    found = distribution(STARS, *answer((f"{space}{judged}", p[judged], others)))

    kept = {judged: p[judged]} | {int(text): share for text, share in others.items()}
    assert found.mass == pytest.approx(sum(kept.values()))
    assert shares(found) == {float(n): share / sum(kept.values()) for n, share in kept.items()}
    # What the whole list says is within the bound.
    legal = sum(p.values())
    for number, share in p.items():
        assert abs(found.probability(float(number)) - share / legal) <= found.bound + 1e-9
