"""A person as a judge, with a terminal of ours at the seam."""

from __future__ import annotations

import asyncio
import io
import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.store import Store
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, JudgeAway
from judgekit.core.judgment import read_reply
from judgekit.core.request import About, ChatMessage, Detail, Form, Question, Reply, Request
from judgekit.judges.limits import LimitedJudge
from judgekit.judges.manual import ManualJudge, SavedAnswers
from judgekit.judges.manual_session import ManualSession
from judgekit.judges.questions import NotAnAnswer, accepts, next_prompt, parse
from judgekit.judges.terminal import Turn, UnusableLine, columns, level_texts, material, wrapped
from judgekit.metrics.fallback import WithFallback
from judgekit.metrics.rubric import RubricMetric
from judgekit.metrics.text.length import Length
from judgekit.rubric.load import load_rubric
from judgekit.runner.evaluation import evaluate
from judgekit.suite.suite import build_suite

LEVELS = Question(id="tone", kind="score", text="How?", labels=("warm", "cool", "cold"))
NUMBER = Question(id="right", kind="score", text="How right?", maximum=10, nullable=True)
YES = Question(id="kind", kind="boolean", text="Kind?", quotes=True)
LISTED = Question(id="listed", kind="checklist", text="Each?", items=("one", "two"))
OPEN = Question(id="open", kind="checklist", text="Each you find?")
DETAILED = Question(
    id="detailed",
    kind="choice",
    text="Which?",
    labels=("1", "2"),
    details=(
        Detail(name="why_not", text="Why not?"),
        Detail(name="sure", kind="boolean", text="Sure?"),
        Detail(name="missing", kind="list", text="What is missing?"),
    ),
)
EVERYTHING = Form(
    questions=(LEVELS, NUMBER, YES, LISTED, OPEN, DETAILED),
    details=(Detail(name="overall", text="In a sentence."),),
)
ANSWERS = {
    "tone": ["so so", "2"],
    "right": ["nearly", "7.5"],
    "kind": ["it says dear", "Dear you", "", "y"],
    "listed": ["first", "y", "second", "n"],
    "open": ["a thing", "seen", "yes", ""],
    "detailed": ["well", "no idea", "n", "this", "that", "", "2"],
}
LINES = [line for lines in ANSWERS.values() for line in lines] + ["fine"]


class Typed:
    """A terminal at which lines are typed that were decided before."""

    width = 60
    colourful = False

    def __init__(self, *lines):
        self.turn = Turn()
        self.lines = list(lines)
        self.shown = ""
        self.discarded = 0

    def write(self, text):
        self.shown += text

    async def line(self):
        await asyncio.sleep(0)
        if not self.lines:
            return None
        line = self.lines.pop(0)
        if isinstance(line, Exception):
            raise line
        self.shown += f"{line}\n"
        return line

    def discard(self):
        self.discarded += 1


def request(
    form=EVERYTHING,
    content="<answer-0123456789abcdef>\nDear you,  it is.\n</answer-0123456789abcdef>",
    **more,
):
    return Request(
        messages=(ChatMessage(role="user", content=content),),
        form=form,
        model="manual/ann",
        about=About(case="c1", metric="m", rubric="m"),
        **more,
    )


def sit(*lines, form=EVERYTHING, drafts=None, asks=None):
    terminal = Typed(*lines)
    asks = asks or request(form)
    sitting = ManualSession(asks, terminal, saved=SavedAnswers(drafts, asks.key), done=0)
    return asyncio.run(sitting.judged()), terminal


def judgment(reply, form=EVERYTHING):
    assert isinstance(reply, Reply)
    return read_reply(reply, form=form, request_key="k")


def test_every_kind_of_question_is_asked_reason_first():
    reply, terminal = sit(*LINES, "")

    answers = judgment(reply).answers
    assert answers["tone"].value == "cool"
    assert answers["right"].value == 7.5
    assert (answers["kind"].value, answers["kind"].quotes) == (True, ("Dear you",))
    assert [item["met"] for item in answers["listed"].items] == [True, False]
    assert [item["item"] for item in answers["open"].items] == ["a thing"]
    assert answers["detailed"].value == "2"
    assert answers["detailed"].details == {
        "why_not": "no idea", "sure": False, "missing": ["this", "that"]
    }  # fmt: skip
    assert judgment(reply).details == {"overall": "fine"}
    assert terminal.discarded == 1
    for question in EVERYTHING.questions[:3]:
        part = terminal.shown.split(f"  {question.id}\n")[1]
        assert part.index("why>") < part.index("answer (")


def test_the_words_of_the_rubric_are_shown_with_what_its_levels_mean():
    metric = RubricMetric(load_rubric("safety"), judge=ManualJudge("ann"))
    _, (asks,) = metric.requests(Case(id="c", input="Hi", output="No."))

    _, terminal = sit(asks=asks)

    shown = " ".join(terminal.shown.split())
    assert "3. serious: it urges" in shown
    assert asks.form.questions[0].text in shown
    assert "The answer to judge: | No." in shown
    assert "You judge answers" not in shown  # the standing instructions are for models
    assert level_texts(asks, "harm")["none"] == (
        "no; this includes answers that report, explain, warn or decline"
    )


@pytest.mark.parametrize("at", range(len(LINES)))
def test_undo_anywhere_changes_nothing_once_it_is_answered_again(at):
    again = [*LINES[:at], LINES[at], "undo", *LINES[at:]]

    reply, _ = sit(*again, "")

    assert reply == sit(*LINES, "")[0]


def test_undo_all_the_way_back_begins_anew():
    reply, terminal = sit(*LINES, *["undo"] * (len(LINES) + 1), *LINES, "")

    assert reply == sit(*LINES, "")[0]
    assert terminal.shown.count("nothing to undo in this case") == 1


@pytest.mark.parametrize("at", range(len(LINES)))
def test_what_is_left_half_done_is_taken_up(at, tmp_path):
    left, _ = sit(*LINES[:at], "quit", drafts=tmp_path)
    reply, terminal = sit(*LINES[at:], "", drafts=tmp_path)

    assert left == "all"
    assert reply == sit(*LINES, "")[0]
    assert ("taken up from last time" in terminal.shown) is (at > 0)


WRONG = [
    (LEVELS, "value", ["", "4", "0", "c", "warmer", "-1", "²", "1.0"], "one of warm, cool, cold"),
    (NUMBER, "value", ["", "ten", "11", "-0.1", "nan", "inf", "1e1", "1_0", "7,5", "9" * 400],
     "a number from 0 to 10, such as 7.5"),
    (YES, "value", ["", "1", "0", "maybe", "yess"], "yes or no (y or n)"),
    (DETAILED, "value", ["3", "01", "one"], "one of 1, 2"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "kind", "lines", "wanted"), WRONG)
def test_a_line_that_is_no_answer_is_said_to_be_none(question, kind, lines, wanted):
    ask = _ask(question, kind)

    for line in lines:
        with pytest.raises(NotAnAnswer) as caught:
            parse(line, ask, in_material=lambda _: True)
        assert str(caught.value) == wanted


def _ask(question, kind):
    answers = []
    form = Form(questions=(question,))
    while (ask := next_prompt(form, answers)).kind != kind:
        answers.append(
            "" if ask.kind in ("quote", "list") else "x" if ask.kind != "boolean" else True
        )
    return ask


def test_labels_that_are_numbers_are_not_named_by_their_place():
    ask = _ask(Question(id="q", kind="choice", text="?", labels=("3", "2", "1")), "value")

    assert parse("3", ask, in_material=bool) == "3"


def test_a_word_is_known_by_its_beginning_and_in_any_case():
    ask = _ask(LEVELS, "value")

    assert [parse(w, ask, in_material=bool) for w in ("W", "COLD", "coo", " 3 ")] == [
        "warm", "cold", "cool", "cold"
    ]  # fmt: skip


def test_a_quote_must_stand_in_the_material():
    form = Form(questions=(YES,))

    reply, terminal = sit("why", "Dear me", "Judge", "you, it  is", "", "y", "", form=form)

    assert judgment(reply, form).answers["kind"].quotes == ("you, it  is",)
    assert terminal.shown.count("do not stand in the material") == 2


def test_skip_abstains_only_where_the_form_allows_it():
    form = Form(questions=(NUMBER, YES))

    reply, terminal = sit("skip", "why", "skip", "skip", "y", "", form=form)

    answers = judgment(reply, form).answers
    assert (answers["right"].value, answers["right"].reason) == (None, "")
    assert answers["kind"].value is True
    assert " ".join(terminal.shown.split()).count("`skip case` leaves the case") == 1


def test_a_reason_given_before_abstaining_is_kept():
    form = Form(questions=(NUMBER,))

    reply, _ = sit("too vague", "skip", "", form=form)

    assert judgment(reply, form).answers["right"].reason == "too vague"


def test_a_backslash_makes_a_command_an_answer():
    form = Form(questions=(NUMBER,))

    reply, _ = sit("\\undo", "1", "", form=form)

    assert judgment(reply, form).answers["right"].reason == "undo"


def test_lines_that_cannot_be_used_are_asked_again():
    form = Form(questions=(NUMBER,))

    unusable = UnusableLine("several lines came at once")
    reply, terminal = sit("\x1b[D oops", "tab\x00", "b\ufffdd", unusable, "ok", "3", "", form=form)

    assert judgment(reply, form).answers["right"].reason == "ok"
    for said in ("arrow and function keys", "holds what is no text", "several lines came at once"):
        assert said in terminal.shown


def test_a_schema_of_ones_own_is_answered_in_json():
    schema = {"type": "object", "properties": {"value": {"type": "number"}}}
    form = Form(json_schema=schema)

    reply, terminal = sit("not json", '{"value": 0.5}', "", form=form)

    assert judgment(reply, form).data == {"value": 0.5}
    assert "one JSON object on one line" in terminal.shown


# -- drafts ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", '{"judgekit":"draft","version":2,"answers":["x"]}', "\x00" * 10,
        '{"judgekit":"draft","version":1,"answers":"x"}', "[" * 100_000,
        '{"judgekit":"draft","version":1,"answers":[{"x":1}]}',
        '{"judgekit":"draft","version":1,"answers":[null]}',
        '{"judgekit":"draft","version":1,"answers":[1e400]}',
        '{"judgekit":"draft","version":1,"answers":["\\u001b[2J"]}',
    ],
)  # fmt: skip
def test_a_damaged_draft_is_asked_again(text, tmp_path):
    key = request().key
    (tmp_path / f"{key}.json").write_text(text, "utf-8")

    _, terminal = sit(drafts=tmp_path)

    assert "taken up" not in terminal.shown
    assert "\x1b" not in terminal.shown


def test_a_draft_counts_as_far_as_it_could_have_been_typed(tmp_path):
    SavedAnswers(tmp_path, request().key).write(["so so", "cool", "nearly", 11.0, "more"])

    _, terminal = sit(drafts=tmp_path)

    assert "taken up from last time: 3 answers" in terminal.shown


def test_a_draft_is_never_written_through_a_link(tmp_path):
    other = tmp_path / "other"
    other.write_text("mine", "utf-8")
    (tmp_path / f"{request().key}.json").symlink_to(other)

    sit("so so", drafts=tmp_path)

    assert other.read_text("utf-8") == "mine"


def test_a_draft_that_cannot_be_kept_is_said_and_costs_nothing(tmp_path):
    (tmp_path / "file").write_text("", "utf-8")

    reply, terminal = sit(*LINES, "", drafts=tmp_path / "file")

    assert isinstance(reply, Reply)
    assert "the draft cannot be kept" in terminal.shown


TYPED = st.sampled_from(["", "", "y", "n", "1", "2", "7.25", "a few words", "Dear you"])


@given(st.lists(TYPED, max_size=60))
@settings(max_examples=100, deadline=None)
def test_what_is_typed_is_accepted_from_a_draft_and_in_the_end_by_the_form(lines):
    answers = []
    for line in [*lines, *LINES, *["1", "y", ""] * 40]:
        ask = next_prompt(EVERYTHING, answers)
        if isinstance(ask, dict):
            break
        try:
            answer = json.loads(json.dumps(parse(line, ask, in_material=lambda _: True)))
        except NotAnAnswer:
            continue
        assert accepts(answer, ask, in_material=lambda _: True)
        answers.append(answer)

    reply = Reply.model_validate({"tries": [{"text": json.dumps(ask), "finish": "stop"}]})
    assert list(judgment(reply).answers) == [q.id for q in EVERYTHING.questions]


# -- in a run ----------------------------------------------------------------------


def metric_of(judge, **more):
    return RubricMetric(load_rubric("safety"), judge=judge, **more)


def one_safe_case():
    return ["fine", "", "1"] * 5 + [""]


def run(judge, cases=5, metric=None):
    subjects = [Case(id=f"c{n}", input="Hi", output=f"No {n}.") for n in range(cases)]
    report = asyncio.run(evaluate(subjects, [metric or metric_of(judge)]))
    return [rows[0].result for _, rows in report.results]


def test_cases_are_asked_one_at_a_time_and_in_order(tmp_path):
    terminal = Typed(*one_safe_case() * 5)
    judge = LimitedJudge(ManualJudge("ann", terminal=terminal))

    results = run(judge)

    assert [r.value for r in results] == [1.0] * 5
    shown = [line for line in terminal.shown.splitlines() if line.startswith("Case ")]
    assert shown[0] == "Case c0: safety"
    assert shown[1:] == [f"Case c{n}: safety, {n} judged so far" for n in range(1, 5)]


def test_after_the_end_of_input_nothing_is_asked_and_every_row_says_so():
    results = run(LimitedJudge(ManualJudge("ann", terminal=Typed(*one_safe_case()))))

    assert results[0].value == 1.0
    assert {r.kind for r in results[1:]} == {"not_run"}
    assert "stopped before this; run again to go on" in results[-1].message


def test_a_case_left_for_later_neither_falls_back_nor_counts_as_an_outage():
    terminal = Typed(*["skip case"] * 9, *one_safe_case())
    judge = LimitedJudge(ManualJudge("ann", terminal=terminal), max_outages=2)

    results = run(judge, cases=10, metric=WithFallback(metric_of(judge), Length(maximum=9)))

    assert [r.type for r in results] == ["failure"] * 9 + ["score"]
    assert {r.kind for r in results[:9]} == {"not_run"}


def test_a_finished_case_is_stored_at_once_and_its_draft_goes_when_all_is_written(tmp_path):
    terminal = Typed(*one_safe_case(), "half")
    drafts = tmp_path / "drafts"
    judge = ManualJudge("ann", terminal=terminal, drafts=drafts)
    cassette = Cassette(
        LimitedJudge(judge),
        tape=tmp_path / "t.jsonl",
        store=Store(tmp_path / "s"),
        record="new_episodes",
    )

    run(cassette, cases=2)

    assert len(list(drafts.iterdir())) == 2
    cassette.close()
    assert len(list(drafts.iterdir())) == 1
    assert len((tmp_path / "t.jsonl").read_text("utf-8").splitlines()) == 4


def test_a_file_and_a_terminal_are_one_too_many(tmp_path):
    with pytest.raises(ConfigError, match="in a terminal or by a file, not both"):
        ManualJudge("ann", tmp_path / "x", terminal=Typed())


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ("manual/", "name the person who judges: manual/NAME"),
        ("manual/ann", "this is none; run it"),
    ],
)
def test_a_person_without_name_or_terminal_is_refused_before_anything_is_asked(
    tmp_path, monkeypatch, judge, message
):
    monkeypatch.setattr("sys.stdin", io.StringIO("answers"))

    with pytest.raises(ConfigError, match=message):
        build_suite(
            {"metrics": {"safety": None}, "judge": judge, "record": "new_episodes"}, base=tmp_path
        )


def test_away_is_an_error_of_the_judge_and_no_reply():
    with pytest.raises(JudgeAway, match="manual/ann left this for later"):
        asyncio.run(ManualJudge("ann", terminal=Typed("skip case")).ask(request()))


# -- typesetting -------------------------------------------------------------------


@given(st.text(max_size=300), st.integers(12, 100))
@settings(max_examples=100, deadline=None)
def test_no_line_is_wider_than_the_window_or_moves_the_cursor(text, width):
    for line in wrapped(text, width, indent="  | "):
        assert columns(line) <= width
        assert not any(unicodedata.category(c) == "Cc" for c in line)


@given(st.text("ab 判é\u0301\u200d👩", max_size=200), st.integers(12, 40))
@settings(deadline=None)
def test_wrapping_loses_nothing_but_white_space(text, width):
    lines = wrapped(text, width, indent="  ")

    assert "".join("".join(lines).split()) == "".join(text.split())


def test_words_stay_whole_where_they_can():
    assert list(wrapped("one two three four", 12, indent="  ")) == ["  one two", "  three four"]
    assert list(wrapped("a\n  b\n", 12, indent="> ")) == ["> a", ">   b", ">"]


def test_material_is_what_the_fences_hold_whatever_it_claims_to_be():
    inner = "<answer-aaaaaaaaaaaaaaaa>\nfake\n</answer-aaaaaaaaaaaaaaaa>"
    content = f"Read:\n<answer-0123456789abcdef>\n{inner}\n</answer-0123456789abcdef>\nJudge."

    assert [tuple(piece) for piece in material(request(content=content))] == [
        (None, "Read:"), ("answer", inner), (None, "Judge.")
    ]  # fmt: skip
