"""Recordings under older keys: each is found by its request, and never by another one.

    python -m benchmarks.old_keys [COUNT] [SEED]

Generates requests of many providers with parameters that are part of keys and others that are not,
and requests for recorded verdicts, some of cases with the same texts. Records every second one in
the form of the first generation of keys, and replays all of them.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.record import Record
from judgekit.cassette.tape import merge_into
from judgekit.core.errors import CassetteMiss, InvalidReply
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.judge_wrapper import NamedJudge, RequestBuilder
from judgekit.core.key_rules import older_forms
from judgekit.core.request import About, Api, ChatMessage, Form, Question, Reply, Request, Try

PROVIDERS = ("openai", "azure", "anthropic", "groq", "openrouter", "litellm_proxy", "mistral")
KEYED: Mapping[str, tuple[Any, ...]] = {
    "temperature": (0, 0.5, 1),
    "max_tokens": (100, 200),
    "seed": (1, 2),
    "stop": (["a"], ["b", "c"]),
}
UNKEYED: Mapping[str, tuple[Any, ...]] = {
    "user": ("ann", "bob"),
    "metadata": ({"team": "a"}, {"team": {"of": ["b", 1]}}),
    "service_tier": ("flex", "auto"),
    "store": (True, False),
    "prompt_cache_key": ("k",),
    "safety_identifier": ("s",),
    "timeout": (5, 60.5),
    "stream": (False,),
}
_FORM = Form(questions=(Question(id="q", kind="score", text="?"),))
_WORDS = ("open", "late", "dog", "ticket", "é", "\u2028", '"', "\\")


class GeneratedJudge(NamedJudge):
    """A judge with any settings; of recorded verdicts, it has one for each case."""

    def __init__(self, model: str, params: Mapping[str, Any], api: Api | None = None) -> None:
        super().__init__(model)
        identity = "0123456789abcdef" if api else None
        self.settings = JudgeSettings(identity=identity, params=dict(params), api=api)

    async def ask(self, request: Request) -> Reply:
        """Return the verdict for the case of a request."""
        if self.settings.api is None:
            raise InvalidReply("is not there to be asked")
        return reply_of(f"{request.about.case} {request.sample}")


class Asked(NamedTuple):
    """A request, its judge, and the reply that only this request may get."""

    request: Request
    judge: GeneratedJudge
    reply: Reply


def reply_of(text: str) -> Reply:
    """Return a reply with a text."""
    return Reply(tries=(Try(text=text, finish="stop"),))


def generate(count: int, *, seed: int) -> list[Asked]:
    """Return different requests, each with an older form; the same for the same seed."""
    rng = random.Random(seed)
    asked: dict[str, Asked] = {}
    while len(asked) < count:
        recorded = rng.random() < 0.3
        texts = rng.choices(_WORDS, k=rng.randint(1, 2 if recorded else 5))
        names = [name for name in KEYED if rng.random() < 0.4]
        params = {name: rng.choice(KEYED[name]) for name in names}
        names = [name for name in UNKEYED if rng.random() < 0.3]
        params |= {name: rng.choice(UNKEYED[name]) for name in names}
        model = "recorded/file" if recorded else f"{rng.choice(PROVIDERS)}/judge"
        judge = GeneratedJudge(model, {} if recorded else params, "recorded" if recorded else None)
        case = f"c{rng.randrange(10**6)}"
        request = RequestBuilder(judge).request(
            messages=(ChatMessage(role="user", content=" ".join(texts)),),
            form=_FORM,
            sample=rng.choice((0, 0, 1)),
            about=About(case=case, metric="m", rubric="r"),
        )
        if any(older_forms(request)):
            reply = reply_of(f"{case} {request.sample}")
            asked.setdefault(request.key, Asked(request, judge, reply))
    return list(asked.values())


def oldest(request: Request) -> Request:
    """Return the request in the form of the first generation of keys."""
    *_, form = older_forms(request)
    return form.request


def check(count: int, *, seed: int) -> Counter[str]:
    """Record half of the requests in their oldest form, and replay all of them.

    Returns:
        The numbers of `right` replies, `wrong` ones, `lost` ones, and of rightly `missed` requests.
    """
    asked = generate(count, seed=seed)
    tape: dict[str, Record] = {}
    owners: dict[str, str] = {}
    for one in asked[::2]:
        old = oldest(one.request)
        if old.key not in tape:  # of requests with one key, only the first one was asked
            tape[old.key] = Record(old.key, old, one.reply)
            owners[old.key] = one.request.key
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tape.jsonl")
        merge_into(path, tape, tape.__getitem__)
        with Cassette(asked[0].judge, tape=path) as cassette:
            for one in asked:
                own = owners.get(oldest(one.request).key) == one.request.key
                try:
                    reply = asyncio.run(cassette.ask(one.request, of=one.judge))
                except CassetteMiss:
                    outcomes["lost" if own else "missed"] += 1
                else:
                    outcomes["right" if own and reply.tries == one.reply.tries else "wrong"] += 1
    return outcomes


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    print(dict(check(number, seed=int(sys.argv[2]) if len(sys.argv) > 2 else 1)))
