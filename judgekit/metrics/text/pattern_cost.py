"""An upper bound of the steps of a regular expression, for simple patterns only."""

from __future__ import annotations

import re

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

    A quantifier can take each of its counts, a bar either of its sides, and a search can begin at
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
