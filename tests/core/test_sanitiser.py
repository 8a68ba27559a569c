from __future__ import annotations

import json
import math

from judgekit.core.canonical import canonical_json
from judgekit.core.request import Omitted, Reply, Try, Usage
from judgekit.core.sanitiser import Sanitiser

KEY = "sk-canary/Q7+w9==tail"


def test_values_become_json() -> None:
    odd = {
        1: math.nan,
        None: [math.inf, -math.inf, 1.5],
        "half \ud800": "\udc00 \ud83d\ude00",
        "large": 10**400,
        "bytes": b"x",
        "tuple": (True, None, -(2**63)),
    }

    clean = Sanitiser().value(odd)

    assert json.loads(canonical_json(clean)) == {
        "1": None,
        "None": [None, None, 1.5],
        "half \ufffd": "\ufffd \U0001f600",
        "large": "an integer of 1329 bits",
        "bytes": None,
        "tuple": [True, None, -(2**63)],
    }


def test_what_is_json_already_stays_as_it_is() -> None:
    value = {"a": [1.0] * 1000, "b": {"c": ["ü", 2**62, False]}, "d": [], "e": [65, 66]}

    assert Sanitiser((KEY,)).value(value) == value


def test_json_with_numbers_that_python_refuses() -> None:
    text = '{"usage": {"prompt_tokens": ' + "9" * 5000 + '}, "logprob": NaN}'

    clean = Sanitiser().json(text)

    assert clean == {"usage": {"prompt_tokens": "an integer of 5000 digits"}, "logprob": None}
    assert Sanitiser().json("{") is None
    assert Sanitiser().json("[" * 100_000) is None


def test_deep_values_are_cut() -> None:
    value: object = "deep"
    for _ in range(10_000):
        value = [value]

    assert canonical_json(Sanitiser().value(value)).count("[") == 64


def test_keys_that_several_entries_spell() -> None:
    pieces = [KEY[:5], KEY[5:12], KEY[12:]]
    spelt = {
        "tokens": pieces,
        "content": [{"token": piece, "logprob": -1.0} for piece in pieces],
        "parts": [{"type": "text", "text": piece} for piece in pieces],
        "bytes": list(KEY.encode()),
        "others": ["sk", "-", "can"],
    }

    assert Sanitiser((KEY,)).value(spelt) == {
        "tokens": None,
        "content": None,
        "parts": None,
        "bytes": None,
        "others": ["sk", "-", "can"],
    }


def test_any_reply_can_be_recorded() -> None:
    omitted = Omitted(bytes=1, sha256="0" * 64)
    tries = (Try(text="\ud800", omitted=omitted), Try(text="ok", logprobs={1: math.nan}))
    reply = Reply(tries=tries, model="\udfff", usage=Usage(input_tokens=10**400), cost=0.5)

    clean = Sanitiser().reply(reply)

    canonical_json(clean.model_dump(mode="json")).encode()
    assert [attempt.text for attempt in clean.tries] == ["\ufffd", "ok"]
    assert (clean.tries[0].omitted, clean.tries[1].logprobs) == (omitted, {"1": None})
    assert (clean.model, clean.usage, clean.cost) == ("\ufffd", None, 0.5)
