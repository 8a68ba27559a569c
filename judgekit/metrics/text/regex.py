"""Regex: does the output match a pattern?"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from typing import Literal

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.score import Score
from judgekit.metrics._options import Positive, needed_text
from judgekit.metrics.computed import ComputedMetric

MAX_PATTERN = 10_000
MAX_TEXT = 4_000_000
"""Maximum number of characters of an output."""
MAX_STEPS = 200_000_000
"""Maximum number of steps in this process; a step takes less than a nanosecond (measured)."""

FLAGS = {
    "ignore_case": re.IGNORECASE,
    "multiline": re.MULTILINE,
    "dot_all": re.DOTALL,
    "verbose": re.VERBOSE,
    "ascii": re.ASCII,
}

# The alarm ends the child process even if its parent was killed.
_CHILD = """
import json, re, signal, sys
pattern, flags, full, seconds, text = json.load(sys.stdin)
if hasattr(signal, "alarm"):
    signal.alarm(seconds + 1)
pattern = re.compile(pattern, flags)
match = pattern.fullmatch(text) if full else pattern.search(text)
json.dump(match and match.span(), sys.stdout)
"""


class Regex(ComputedMetric):
    """1 if the output matches the pattern, else 0; with `expect: absent` the opposite.

    Patterns use Python's syntax. A pattern with unbounded backtracking cannot block a run: if the
    number of steps on the text is provably small, the match runs in this process; otherwise it runs
    in a child process that ends after `timeout` seconds. The metric needs `output`.
    """

    name: str = "regex"
    pattern: str
    """Regular expression in Python's syntax."""
    flags: tuple[str, ...] = ()
    """Any of ignore_case, multiline, dot_all, verbose, ascii."""
    match: Literal["search", "fullmatch"] = "search"
    """`search` matches anywhere in the output, `fullmatch` the whole output."""
    expect: Literal["present", "absent"] = "present"
    """Whether the pattern should be `present` or `absent`."""
    timeout: Positive = 5
    """Time limit in seconds for a match in a child process."""

    needs = ("output",)

    def prepare(self) -> None:
        """Check and complete the options."""
        for flag in self.flags:
            if flag not in FLAGS:
                raise ConfigError(f"{self.name}: flags are {', '.join(FLAGS)}, not {flag!r}")
        if not isinstance(self.pattern, str) or not 0 < len(self.pattern) <= MAX_PATTERN:
            message = f"{self.name}: pattern must be a text of 1 to {MAX_PATTERN:,} characters"
            raise ConfigError(message)
        try:
            re.compile(self.pattern, self._bits)
        except (re.error, OverflowError, RecursionError) as exc:
            shown = self.pattern[:200]
            raise ConfigError(f"{self.name}: pattern {shown!r} is wrong: {exc}") from exc

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output is missing, or longer than 4,000,000 characters.
            TimeoutError: the match did not end in time.
        """
        text = needed_text(case, "output")
        if len(text) > MAX_TEXT:
            raise CaseError(f"{self.name}: the output has more than {MAX_TEXT:,} characters")
        span = await self._span(text)
        good = (span is not None) == (self.expect == "present")
        where = "" if span is None else f" at characters {span[0]:,} to {span[1]:,}"
        return Score(
            value=1.0 if good else 0.0,
            method=f"regular expression, {self.match}",
            reason=f"The pattern is {'absent' if span is None else 'present'}{where};"
            f" wanted {self.expect}.",
            details={"span": None if span is None else list(span), "expect": self.expect},
        )

    @property
    def _bits(self) -> int:
        return sum({FLAGS[flag] for flag in self.flags})

    async def _span(self, text: str) -> tuple[int, int] | None:
        anywhere = self.match == "search"
        steps = match_steps(self.pattern, length=len(text), anywhere=anywhere, flags=self._bits)
        if steps is None or steps > MAX_STEPS:
            return await asyncio.to_thread(self._span_in_child, text)
        compiled = re.compile(self.pattern, self._bits)
        match = compiled.search(text) if anywhere else compiled.fullmatch(text)
        return None if match is None else match.span()

    def _span_in_child(self, text: str) -> tuple[int, int] | None:
        task = [self.pattern, self._bits, self.match == "fullmatch", self.timeout, text]
        try:
            process = subprocess.run(  # noqa: S603 - a fixed program, data on its standard input
                [sys.executable, "-I", "-S", "-c", _CHILD],
                input=json.dumps(task).encode("ascii"),
                capture_output=True,
                timeout=self.timeout,
                check=True,
            )
        except subprocess.TimeoutExpired as exc:
            raise TimeoutError(
                f"{self.name}: no end after {self.timeout} s on an output of {len(text):,}"
                " characters; simplify the pattern"
            ) from exc
        span = json.loads(process.stdout)
        return None if span is None else (span[0], span[1])


# A token of a simple pattern: a character, class or escape with its quantifier, an anchor, a plain
# group without a quantifier, or a bar. Repeated groups, look-around, back references, names and
# inline flags are not simple.
_TOKEN = re.compile(
    r"""
    (?P<atom>
        \\[^0-9A-Za-z] | \\[wWdDsSntrfv]
      | \[\^?+ (?: \\. | [^\]\\\[] )++ \]
      | [^\\\[\](){}*+?|^$]
    )
    (?P<times> (?: [*+?] | \{(?P<low>\d{1,6})(?P<comma>,)?(?P<high>\d{1,6})?\} ) [?+]? )?
  | (?P<anchor> \^ | \$ | \\[bBAZ] )
  | (?P<open> \( (?: \?: )? (?!\?) )
  | (?P<close> \) ) (?![*+?{])
  | (?P<bar> \| )
    """,
    re.VERBOSE | re.DOTALL,
)


def match_steps(pattern: str, *, length: int, anywhere: bool, flags: int = 0) -> int | None:
    """Return an upper bound of the steps on a text, or `None` if the pattern is not simple.

    A quantifier can take each of its counts, an alternation either side, and a search can begin at
    each character. The product bounds the number of paths; a path has at most all tokens.

    >>> match_steps("colou?r", length=100, anywhere=True)
    1212
    >>> match_steps("(a+)+b", length=100, anywhere=True) is None
    True
    """
    if flags & re.VERBOSE:
        return None
    at, tokens, paths = 0, 0, length + 1 if anywhere else 1
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            return None
        at = token.end()
        tokens += 1
        if token["bar"]:
            paths *= 2
        elif token["times"]:
            paths *= min(_most(token), length) + 1
    return paths * max(tokens, 1)


def _most(token: re.Match[str]) -> int:
    """Return the maximum of a quantifier; 2**30 if it is unbounded."""
    if token["times"][0] == "?":
        return 1
    if token["low"] is None or (token["comma"] and token["high"] is None):
        return 1 << 30
    return int(token["high"] or token["low"])
