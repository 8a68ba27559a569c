"""Attack strings for a regular expression, derived from the structure of its own source."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable
from functools import cache
from itertools import product
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

_PROBES = [
    *map(chr, range(9, 127)),
    *"\x0b\x00\x1c\x85\xa0\u2028éßñ一。€١²ａ’“—…",
]
"""Characters that classes are tested with."""
_PER_CLASS = 6
_SUFFIX = "\x00\n!"
_LONG = 16
"""A repeat of at most this often is no place to pump."""


class Attack(NamedTuple):
    """A text that grows: a prefix, as many pumps as fit, and a suffix."""

    prefix: str
    pump: str
    suffix: str

    def text(self, length: int) -> str:
        room = length - len(self.prefix) - len(self.suffix)
        return self.prefix + self.pump * max(1, room // len(self.pump)) + self.suffix


def attacks(source: str, flags: int = 0) -> list[Attack]:
    """Return the attacks on a pattern: every repeat is pumped with what it accepts itself."""
    tree = _parser.parse(source, flags)
    walker = _Walker(tree.state.flags, set(source) & set(_PROBES))
    walker.walk(list(tree), "")
    units: dict[tuple[str, str], None] = {}
    wholes = walker.samples(list(tree))
    for prefix, bodies, follow in walker.repeats:
        for body in bodies:
            units[prefix, body] = None
            # Every place can begin a match that fails at the end of the text.
            units["", prefix + body] = None
            units["", prefix + body * 3] = None
            for after in follow:
                units[prefix, body + after] = None
                units["", prefix + body + after[:-1]] = None
        for one, other in product(bodies[:3], bodies[:3]):
            units[prefix, one + other] = None
    for whole in wholes:
        units["", whole] = None
        units["", whole[:-1]] = None
    return [Attack(prefix, pump, _SUFFIX) for prefix, pump in units if pump]


class _Walker:
    def __init__(self, flags: int, literals: set[str]) -> None:
        self.flags = flags
        self.repeats: list[tuple[str, list[str], list[str]]] = []
        self.groups: dict[int, str] = {}
        self.literals = literals
        self._texts: dict[tuple[Any, int], list[str]] = {}
        """What `_of` returns for the parts of the tree, by their identity."""

    def walk(self, items: list[Any], prefix: str) -> None:
        """Collect the repeats of a sequence, each with a text that leads to it."""
        before = prefix
        for place, (op, av) in enumerate(items):
            if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
                _, high, body = av
                inner = list(body)
                if high is ops.MAXREPEAT or high > _LONG:
                    rest = self.samples(items[place + 1 :])[:2]
                    self.repeats.append((before, self.samples(inner), [r for r in rest if r]))
                self.walk(inner, before)
            elif op is ops.SUBPATTERN:
                self.walk(list(av[3]), before)
            elif op is ops.ATOMIC_GROUP:
                self.walk(list(av), before)
            elif op in (ops.ASSERT, ops.ASSERT_NOT):
                self.walk(list(av[1]), before)
            elif op is ops.BRANCH:
                for branch in av[1]:
                    self.walk(list(branch), before)
            elif op is ops.GROUPREF_EXISTS:
                for branch in av[1:]:
                    self.walk(list(branch or ()), before)
            before += self.samples([items[place]])[0]

    def samples(self, items: list[Any], most: int = _PER_CLASS) -> list[str]:
        """Return texts that a sequence accepts, but for its look-arounds."""
        texts = [""]
        for op, av in items:
            if (parts := self._texts.get((op, id(av)))) is None:
                parts = self._of(op, av)
                if not isinstance(av, int):
                    self._texts[op, id(av)] = parts
            # Not the product: each alternative once is enough.
            count = min(most, max(len(texts), len(parts)))
            texts = [texts[n % len(texts)] + parts[n % len(parts)] for n in range(count)]
        return list(dict.fromkeys(texts))

    def _of(self, op: Any, av: Any) -> list[str]:
        if op in (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN):
            return self._characters(op, av)
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            low, _, body = av
            return [text * max(1, min(low, 40)) for text in self.samples(list(body))]
        if op is ops.BRANCH:
            return [text for branch in av[1] for text in self.samples(list(branch), 2)][:40]
        if op is ops.SUBPATTERN:
            texts = self.samples(list(av[3]))
            if av[0] is not None and self.groups.get(av[0]) != texts[0]:
                self.groups[av[0]] = texts[0]
                self._texts.clear()  # a reference to the group may have had another text
            return texts
        if op is ops.ATOMIC_GROUP:
            return self.samples(list(av))
        if op is ops.GROUPREF:
            return [self.groups.get(av, "")]
        if op is ops.ASSERT and av[0] > 0:
            return ["", *self.samples(list(av[1]))[:1]]
        return [""]

    def _characters(self, op: Any, av: Any) -> list[str]:
        if op is ops.LITERAL:
            return [chr(av)]
        accepted = _accepted(op, tuple(av) if op is ops.IN else av, self.flags)
        kinds: dict[Any, str] = {}
        # What the pattern itself names is likeliest to be tried again.
        for c in sorted(accepted, key=lambda c: c not in self.literals):
            kinds.setdefault(_kind(c), c)
        return list(kinds.values())[:12] or accepted[:1] or [""]


def _kind(c: str) -> Any:
    if c.isdigit():
        return "digit"
    if c.isalpha():
        return ("letter", c.isupper(), c.isascii())
    return c if c in " \t\n-_.,'\"\\" else ("other", c.isspace(), c.isprintable())


@cache
def _accepted(op: Any, av: Any, flags: int) -> list[str]:
    """Return probes that a class of characters accepts, and what it names itself."""
    one = _compiled(op, av, flags)
    accepted = [c for c in _PROBES if one.fullmatch(c)]
    if op is ops.IN:
        accepted += [chr(v) for o, v in av if o is ops.LITERAL and one.fullmatch(chr(v))]
        accepted += [chr(v[0]) for o, v in av if o is ops.RANGE and one.fullmatch(chr(v[0]))]
    return accepted


def _compiled(op: Any, av: Any, flags: int) -> re.Pattern[str]:
    from re import _compiler  # type: ignore[attr-defined]

    state = _parser.State()
    state.flags = flags & ~re.VERBOSE
    return _compiler.compile(_parser.SubPattern(state, [(op, av)]), flags & ~re.VERBOSE)


class TooSlow(Exception):
    """A call was interrupted."""


def _interrupt(*_: Any) -> None:
    raise TooSlow


def cpu(call: Callable[[str], Any], text: str, limit: float = 0.5) -> float:
    """Return the CPU seconds of a call; infinity when it took more than `limit`."""
    signal.signal(signal.SIGVTALRM, _interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    started = time.process_time()
    try:
        call(text)
        return time.process_time() - started
    except TooSlow:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def growth(
    call: Callable[[str], Any], attack: Attack, longest: int, *, least: float = 0.03
) -> str | None:
    """Return what is wrong with the growth of a call's time, if anything is.

    Twice the text may take 2.5 times as long. Calls of less than `least` seconds are not looked
    at: they are as quick as the clock's ticks.
    """
    length = longest >> 6
    while length <= longest:
        text = attack.text(length)
        if (now := cpu(call, text)) >= least:
            half = attack.text(length // 2)
            before = cpu(call, half)
            if min(now, before) < float("inf"):
                before = min(before, *(cpu(call, half) for _ in range(2)))
            if before == float("inf"):
                return f"no end with {length // 2:,} characters: {attack}"
            now = min(now, *(cpu(call, text) for _ in range(3)))
            if now > 2.5 * max(before, least / 8):
                # The clock ticks coarsely: a fault is one that shows with twice the text, too.
                twice = min(cpu(call, attack.text(length * 2), limit=4) for _ in range(2))
                if twice > 2.5 * now:
                    return f"{before:.3f} s, {now:.3f} s with {length:,} characters: {attack}"
                return None
            if now >= least:
                return None
        length <<= 3
    return None
