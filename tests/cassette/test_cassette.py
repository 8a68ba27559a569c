from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.mode import RecordMode
from judgekit.cassette.record import encode
from judgekit.cassette.tape import Tape
from judgekit.core.canonical import digest
from judgekit.core.errors import (
    CaseError,
    CassetteCorrupt,
    CassetteMiss,
    ConfigError,
    InvalidReply,
    JudgeRefused,
    JudgeUnavailable,
)
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.judgment import read_reply
from judgekit.core.replies import text as reply_text
from judgekit.core.request import ChatMessage, Form, Omitted, Reply, Request, Try
from judgekit.judges.fake import FakeJudge
from tests.cassette.conftest import make_reply, make_request


def ask(cassette, *texts):
    async def all_of_them():
        return [await cassette.ask(make_request(text)) for text in texts]

    return asyncio.run(all_of_them())


class Numbering(FakeJudge):
    """Answers 0.1, 0.2, 0.3, ... in turn."""

    def __init__(self):
        super().__init__(lambda _: make_reply(round(len(self.asked) / 10, 1)))


def value(reply):
    return json.loads(reply.tries[-1].text)["q"]["value"]


@pytest.fixture
def tape(tmp_path, own_store):
    """Write a tape of `one` (0.1) and `two` (0.2)."""
    path = tmp_path / "tape.jsonl"
    with Cassette.open(path, Numbering(), record="new_episodes", store=tmp_path / "first") as first:
        ask(first, "one", "two")
    return path


def opened(tape, judge, store, record="none", **options):
    return Cassette(judge, tape=tape, store=store, record=record, **options)


# -- record modes -----------------------------------------------------------------


def test_replaying_asks_nobody_and_gives_what_was_said(tape, store):
    judge = Numbering()
    cassette = opened(tape, judge, store)

    replies = ask(cassette, "two", "one", "two")

    assert [value(reply) for reply in replies] == [0.2, 0.1, 0.2]
    assert judge.asked == []
    assert cassette.ledger.origins == {"tape": 3}
    assert cassette.ledger.avoided == pytest.approx(0.75)


def test_replaying_misses_what_is_not_recorded(tape, store):
    cassette = opened(tape, Numbering(), store)

    with pytest.raises(CassetteMiss) as caught:
        ask(cassette, "three")

    assert caught.value.key == make_request("three").key
    assert cassette.ledger.missed == 1
    assert [miss.request.key for miss in cassette.misses] == [caught.value.key]


def test_a_replay_takes_only_the_tape_even_if_the_store_knows(tape, store):
    store.put(make_request("three").key, encode(make_request("three"), make_reply())[0])

    with pytest.raises(CassetteMiss):
        ask(opened(tape, Numbering(), store), "three")


def test_a_replay_opens_no_store(tape):
    def never():
        raise AssertionError("the store was opened")

    cassette = opened(tape, Numbering(), never)

    ask(cassette, "one")
    cassette.close()


def test_new_episodes_asks_only_for_what_is_missing(tape, store):
    judge = Numbering()
    cassette = opened(tape, judge, store, "new_episodes")

    replies = ask(cassette, "one", "three")
    cassette.close()

    assert [value(reply) for reply in replies] == [0.1, 0.1]
    assert [request.messages[-1].content for request in judge.asked] == ["three"]
    assert len(Tape(tape)) == 3
    assert cassette.ledger.origins == {"tape": 1, "live": 1}


def test_new_episodes_copies_from_the_store_instead_of_asking(tape, store):
    request = make_request("three")
    store.put(request.key, encode(request, make_reply(0.9))[0])
    judge = Numbering()
    cassette = opened(tape, judge, store, "new_episodes")

    (reply,) = ask(cassette, "three")
    cassette.close()

    assert value(reply) == 0.9
    assert judge.asked == []
    assert Tape(tape).find(request.key) >= 0
    assert cassette.ledger.origins == {"store": 1}


def test_the_tape_goes_before_the_store(tape, store):
    request = make_request("one")
    store.put(request.key, encode(request, make_reply(0.9))[0])

    (reply,) = ask(opened(tape, Numbering(), store, "new_episodes"), "one")

    assert value(reply) == 0.1


def test_all_asks_everything_anew_but_once(tape, store):
    judge = Numbering()
    request = make_request("one")
    store.put(request.key, encode(request, make_reply(0.9))[0])
    cassette = opened(tape, judge, store, "all")

    replies = ask(cassette, "two", "one", "two", "one")
    cassette.close()

    assert [value(reply) for reply in replies] == [0.1, 0.2, 0.1, 0.2]
    assert len(judge.asked) == 2
    again = opened(tape, Numbering(), store)
    assert [value(reply) for reply in ask(again, "one", "two")] == [0.2, 0.1]


def test_all_keeps_what_was_not_asked_for(tape, store):
    cassette = opened(tape, Numbering(), store, "all")
    ask(cassette, "two")
    cassette.close()

    assert [value(r) for r in ask(opened(tape, Numbering(), store), "one", "two")] == [0.1, 0.1]


def test_without_a_tape_the_store_is_replayed_and_recorded_to(store):
    judge = Numbering()

    ask(Cassette(judge, store=store, record="new_episodes"), "one")
    (reply,) = ask(Cassette(judge, store=store), "one")

    assert value(reply) == 0.1
    assert len(judge.asked) == 1
    with pytest.raises(CassetteMiss, match="not recorded in the store"):
        ask(Cassette(judge, store=store), "two")


def test_again_asks_anew_for_named_keys_only(tape, store):
    judge = Numbering()
    again = frozenset({make_request("two").key})
    cassette = opened(tape, judge, store, "new_episodes", again=again)

    replies = ask(cassette, "one", "two", "two")
    cassette.close()

    assert [value(reply) for reply in replies] == [0.1, 0.1, 0.1]
    assert len(judge.asked) == 1
    assert value(ask(opened(tape, Numbering(), store), "two")[0]) == 0.1


def test_again_without_permission_to_ask_plays_what_is_recorded(tape, store):
    again = frozenset({make_request("two").key})
    cassette = opened(tape, Numbering(), store, again=again)

    (played,) = ask(cassette, "two")
    (recorded,) = ask(opened(tape, Numbering(), store), "two")
    assert value(played) == value(recorded)


@pytest.mark.parametrize("mode", ["none", "new_episodes", "all"])
def test_a_mode_is_a_word(mode):
    assert RecordMode.parse(mode) == mode


def test_an_unknown_mode_is_refused():
    with pytest.raises(
        ConfigError, match=r"no record mode 'new'; write none \(replay only\), new_episodes"
    ):
        RecordMode.parse("new")


def test_recording_needs_a_store():
    with pytest.raises(ConfigError, match="recording needs a store"):
        Cassette(FakeJudge(), record="all")


def test_replaying_a_tape_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"no such cassette; record it with"):
        Cassette.open(tmp_path / "none.jsonl", FakeJudge())


# -- what is recorded, and when ---------------------------------------------------


def test_a_reply_is_in_the_store_the_moment_it_arrives(tmp_path, store):
    cassette = opened(tmp_path / "new.jsonl", Numbering(), store, "new_episodes")

    ask(cassette, "one")

    assert store.get(make_request("one").key) is not None
    assert not (tmp_path / "new.jsonl").exists()


@pytest.mark.parametrize(
    "reply",
    [
        Reply(tries=(Try(text="not JSON", finish="stop"),)),
        Reply(tries=(Try(text=None, refusal="I decline."),)),
        Reply(tries=(Try(text='{"q":', finish="length"),)),
        Reply(tries=(Try(text=""), Try(text="still nothing"))),
    ],
)
def test_what_no_score_can_be_made_of_is_recorded_all_the_same(tmp_path, store, reply):
    path = tmp_path / "new.jsonl"
    with opened(path, FakeJudge(lambda _: reply), store, "new_episodes") as cassette:
        ask(cassette, "one")

    assert ask(opened(path, FakeJudge(), store), "one") == [reply]


@pytest.mark.parametrize("error", [CaseError("too long"), JudgeRefused("no"), InvalidReply("odd")])
def test_an_error_about_one_request_is_recorded(tmp_path, store, error):
    def fails(_):
        raise error

    path = tmp_path / "new.jsonl"
    with opened(path, FakeJudge(fails), store, "new_episodes") as cassette:
        live = ask(cassette, "one")
    replayed = ask(opened(path, FakeJudge(), store), "one")

    assert live == replayed
    for reply in (live[0], replayed[0]):
        with pytest.raises(type(error), match=str(error)):
            read_reply(reply, form=Form(), request_key="")
        assert reply.cost == 0.0


@pytest.mark.parametrize("want", ["verdict", "text", "embedding", "logprobs"])
def test_of_a_reply_that_is_too_long_the_beginning_is_recorded(tmp_path, store, want, monkeypatch):
    monkeypatch.setitem(reply_text._LIMITS, want, 200_000)
    long = Reply(tries=(Try(text="a" * 100_000), Try(text="é" * 200_001)))
    request = Request(
        messages=(ChatMessage(role="user", content="x"),), form=Form(want=want), model="fake/judge"
    )
    path = tmp_path / "new.jsonl"
    with opened(path, FakeJudge(lambda _: long), store, "new_episodes") as cassette:
        live = asyncio.run(cassette.ask(request))

    assert path.stat().st_size < 1_000_000
    assert asyncio.run(opened(path, FakeJudge(), store).ask(request)) == live
    for answer, whole in zip(live.tries, long.tries, strict=True):
        assert answer.text == whole.text[: reply_text.BEGINNING]
        rest = whole.text[reply_text.BEGINNING :].encode()
        assert answer.omitted == Omitted(bytes=len(rest), sha256=digest(rest))
    assert "longer than" in live.tries[-1].fault.message


def test_a_reply_that_no_record_can_hold_is_a_failure_and_the_tape_stays_whole(
    tmp_path, store, monkeypatch
):
    monkeypatch.setattr("judgekit.cassette.cassette.MAX_LINE", 10_000)
    odd = Reply(tries=(Try(text="fine", logprobs=["x" * 10_000]),))
    path = tmp_path / "new.jsonl"
    cassette = opened(path, FakeJudge(lambda _: odd), store, "new_episodes")

    with pytest.raises(InvalidReply, match="more than the 10,000 bytes of a record"):
        ask(cassette, "one")

    cassette.close()
    assert not path.exists()


def test_an_outage_is_never_recorded(tmp_path, store):
    def fails(_):
        raise JudgeUnavailable("down")

    path = tmp_path / "new.jsonl"
    cassette = opened(path, FakeJudge(fails), store, "new_episodes")

    with pytest.raises(JudgeUnavailable):
        ask(cassette, "one")
    cassette.close()

    assert not path.exists()
    assert ask(opened(path, Numbering(), store, "new_episodes"), "one")


def test_the_tape_is_written_when_the_block_is_left_by_an_error(tmp_path, store):
    path = tmp_path / "new.jsonl"

    def interrupted():
        with opened(path, Numbering(), store, "new_episodes") as cassette:
            ask(cassette, "one")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert len(Tape(path)) == 1


def test_redaction_goes_before_the_key(tmp_path, store):
    judge = Numbering()

    def redact(text):
        return text.replace("secret", "[X]")

    path = tmp_path / "new.jsonl"
    with opened(path, judge, store, "new_episodes", redact=redact) as cassette:
        ask(cassette, "a secret")

    assert judge.asked[0].messages[-1].content == "a [X]"
    assert "secret" not in path.read_text("utf-8")
    assert Tape(path).find(make_request("a [X]").key) >= 0
    assert ask(opened(path, judge, store, redact=redact), "a secret", "a [X]")


# -- many at once -----------------------------------------------------------------


class Slow(Numbering):
    """Waits to be let go before it answers."""

    def __init__(self, error=None):
        super().__init__()
        self.go = asyncio.Event()
        self.error = error
        self.calls = 0

    async def ask(self, request):
        self.calls += 1
        await self.go.wait()
        if self.error:
            raise self.error
        return await super().ask(request)


def test_one_call_serves_all_who_ask_the_same_at_once(tmp_path, store):
    async def together():
        judge = Slow()
        cassette = opened(tmp_path / "new.jsonl", judge, store, "new_episodes")
        asking = [asyncio.create_task(cassette.ask(make_request("one"))) for _ in range(10)]
        await asyncio.sleep(0)
        judge.go.set()
        replies = await asyncio.gather(*asking)
        return judge, replies

    judge, replies = asyncio.run(together())

    assert judge.calls == 1
    assert len({reply.tries for reply in replies}) == 1


def test_an_error_reaches_all_who_wait_and_the_next_may_ask_again(tmp_path, store):
    async def together():
        judge = Slow(JudgeUnavailable("down"))
        cassette = opened(tmp_path / "new.jsonl", judge, store, "new_episodes")
        asking = [asyncio.create_task(cassette.ask(make_request("one"))) for _ in range(3)]
        await asyncio.sleep(0)
        judge.go.set()
        failed = await asyncio.gather(*asking, return_exceptions=True)
        judge.error = None
        return failed, await cassette.ask(make_request("one"))

    failed, reply = asyncio.run(together())

    assert [type(error) for error in failed] == [JudgeUnavailable] * 3
    assert value(reply) == 0.1


def test_one_who_gives_up_waiting_does_not_stop_the_others(tmp_path, store):
    async def together():
        judge = Slow()
        cassette = opened(tmp_path / "new.jsonl", judge, store, "new_episodes")
        first = asyncio.create_task(cassette.ask(make_request("one")))
        await asyncio.sleep(0)
        second = asyncio.create_task(cassette.ask(make_request("one")))
        await asyncio.sleep(0)
        second.cancel()
        judge.go.set()
        return await asyncio.gather(first, second, return_exceptions=True)

    first, second = asyncio.run(together())

    assert value(first) == 0.1
    assert isinstance(second, asyncio.CancelledError)


def test_the_one_who_asks_giving_up_does_not_cancel_those_who_wait(tmp_path, store):
    async def together():
        judge = Slow()
        cassette = opened(tmp_path / "new.jsonl", judge, store, "new_episodes")
        first = asyncio.create_task(cassette.ask(make_request("one")))
        await asyncio.sleep(0)
        second = asyncio.create_task(cassette.ask(make_request("one")))
        await asyncio.sleep(0)
        first.cancel()
        judge.go.set()
        return await asyncio.gather(first, second, return_exceptions=True)

    _, second = asyncio.run(together())

    assert value(second) == 0.1


def held_back(store):
    """Let a store write nothing until the second event; the first says that it wants to."""
    put, begun, held = store.put, threading.Event(), threading.Event()

    def slowly(key, text):
        begun.set()
        held.wait(120)
        put(key, text)

    store.put = slowly
    return begun, held


def test_a_reply_stored_for_one_who_gave_up_reaches_those_who_wait(tmp_path, store):
    begun, held = held_back(store)
    judge = Numbering()
    cassette = opened(tmp_path / "new.jsonl", judge, store, "new_episodes")

    async def together():
        first = asyncio.create_task(cassette.ask(make_request("one")))
        await asyncio.sleep(0)
        second = asyncio.create_task(cassette.ask(make_request("one")))
        while not begun.is_set():
            await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        held.set()
        return await asyncio.gather(first, second, return_exceptions=True)

    first, second = asyncio.run(together())
    cassette.close()

    assert isinstance(first, asyncio.CancelledError)
    assert value(second) == 0.1
    assert len(judge.asked) == 1
    assert cassette.ledger.origins["live"] == 1


def test_replies_that_came_are_kept_when_the_run_is_called_off(tmp_path, store):
    """Their writing waits its turn behind a slow disk; being called off must not drop it."""
    begun, held = held_back(store)
    judge = Numbering()
    cassette = opened(tmp_path / "new.jsonl", judge, store, "new_episodes")

    async def called_off():
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        asks = [asyncio.create_task(cassette.ask(make_request(f"{n}"))) for n in range(5)]
        while not begun.is_set() or len(judge.asked) < 5:
            await asyncio.sleep(0)
        for asking in asks:
            asking.cancel()
        await asyncio.sleep(0)
        held.set()
        await asyncio.gather(*asks, return_exceptions=True)

    asyncio.run(called_off())
    cassette.close()

    assert len(Tape(tmp_path / "new.jsonl")) == 5
    assert cassette.ledger.origins["live"] == 5


# -- used and unused --------------------------------------------------------------


def test_records_that_are_not_played_are_named(tape, store):
    cassette = opened(tape, Numbering(), store)

    ask(cassette, "one")

    assert cassette.unused == 1
    assert list(cassette.unused_keys()) == [make_request("two").key]


def test_the_used_tape_holds_exactly_what_was_used_and_replays(tape, store, tmp_path):
    cassette = opened(tape, Numbering(), store, "new_episodes")
    ask(cassette, "two", "three")
    used = tmp_path / "used.jsonl"

    cassette.write_used(used)
    cassette.close()

    replay = opened(used, Numbering(), store)
    assert [value(reply) for reply in ask(replay, "two", "three")] == [0.2, 0.1]
    assert replay.unused == 0
    assert len(replay.tape) == 2


def test_a_fully_used_tape_is_written_back_byte_for_byte(tape, store, tmp_path):
    cassette = opened(tape, Numbering(), store)
    ask(cassette, "two", "one")
    used = tmp_path / "used.jsonl"

    cassette.write_used(used)

    assert used.read_bytes() == tape.read_bytes()


def test_live_and_replayed_runs_write_the_same_used_tape(tmp_path, store):
    path = tmp_path / "new.jsonl"
    live = opened(path, Numbering(), store, "new_episodes")
    ask(live, "one", "two")
    live.write_used(tmp_path / "live.jsonl")
    live.close()
    replay = opened(path, Numbering(), store)
    ask(replay, "one", "two")
    replay.write_used(tmp_path / "replay.jsonl")

    assert (tmp_path / "live.jsonl").read_bytes() == (tmp_path / "replay.jsonl").read_bytes()
    assert path.read_bytes() == (tmp_path / "live.jsonl").read_bytes()


def test_nothing_used_is_a_tape_of_nothing(tape, store, tmp_path):
    opened(tape, Numbering(), store).write_used(tmp_path / "used.jsonl")

    assert len(Tape(tmp_path / "used.jsonl")) == 0


# -- money ------------------------------------------------------------------------


def test_the_ledger_knows_what_it_does_not_know(tmp_path, store):
    prices = iter([0.5, None])
    judge = FakeJudge(lambda _: make_reply(cost=next(prices)))
    cassette = opened(tmp_path / "new.jsonl", judge, store, "new_episodes")

    ask(cassette, "one", "two")

    assert (cassette.ledger.spent, cassette.ledger.unpriced) == (0.5, 1)


# -- damage -----------------------------------------------------------------------


def test_a_reply_that_was_changed_by_hand_stops_the_run(tape, store):
    tape.write_text(tape.read_text("utf-8").replace("0.2", "0.9"), encoding="utf-8")
    cassette = opened(tape, Numbering(), store)

    with pytest.raises(CassetteCorrupt, match="was changed after it was written; restore"):
        ask(cassette, "two")


def test_a_row_of_the_store_that_was_changed_stops_the_run(store):
    request, other = make_request("one"), make_request("two")
    store.put(request.key, encode(other, make_reply())[0])

    with pytest.raises(CassetteCorrupt, match="is the record of another key"):
        ask(Cassette(FakeJudge(), store=store), "one")


def test_a_cassette_passes_on_what_goes_into_keys():
    judge = FakeJudge(model="fake/x")
    judge.settings = JudgeSettings(identity="really-y", params={"seed": 1}, mode="tools")

    cassette = Cassette(judge)

    assert (cassette.model, cassette.settings) == ("fake/x", judge.settings)
