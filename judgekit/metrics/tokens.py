"""Split a text into words, sentences, lines and paragraphs; normalise short answers."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from itertools import cycle

from judgekit.embedders.folding import fold, nfkc

CJK = "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
CJK += "\U00020000-\U0003ffff"
"""Han and kana, as the inside of a character class: scripts without spaces between words."""

_ALNUM = re.compile(r"[^\W_]")
# Possessive quantifiers: a million full stops are read only once.
_SENTENCE_END = re.compile(
    r"[。！？｡]++[”’」』）\"')\]]*+|(?<![.!?…؟।])[.!?…؟।]++[”’\"')\]*_]*+(?=\s|$)"
)
_ABBREVIATION = re.compile(
    r"(?i:\b(?:mr|mrs|ms|dr|prof|vs|inc|ltd|jr|sr|st|approx|cf|[a-z](?:\.[a-z])+))$|\b[A-HJ-Z]$"
)
# A new line ends a sentence if a blank line, a list item, a heading or a quotation follows.
_BLOCK = re.compile(r"\n\s*\n|\n(?=[ \t]*(?:[-*+•#>]|\d{1,3}[.)])\s)")
_ARTICLES = frozenset({"a", "an", "the"})
_ACCENTS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")
# Between two digits, or a sign or point before the first.
_NUMERIC = re.compile(r"((?<=\d)[.,:/-](?=\d)|(?<![\w.)\]])[.-](?=\.?\d))")
_APOSTROPHES = str.maketrans("‘’ʼ＇−‐‑–", "''''----")


# Compiling a pattern with CJK takes 7 ms, and most runs use neither.
@cache
def _word() -> re.Pattern[str]:
    return re.compile(f"[{CJK}]|[^\\s{CJK}—–]+")


@cache
def _cjk() -> re.Pattern[str]:
    return re.compile(f"([{CJK}])")


def count_words(text: str) -> int:
    """Count words: runs between spaces or dashes that contain a letter or digit.

    "Don't" and "twenty-one" are one word each. Each Han or kana character counts as a word. Thai,
    Lao, Khmer and Burmese are not split, so a run of them counts as one word.

    >>> count_words("Don't panic - it is 3.5 km"), count_words("日本語 OK")
    (6, 4)
    """
    return sum(_ALNUM.search(word) is not None for word in _word().findall(text))


def count_sentences(text: str) -> int:
    """Count sentences: each ends at `.`, `!`, `?` (or an equivalent), a block, or the text's end.

    A full stop after a common abbreviation, an initial or a list number does not end a sentence.
    Blocks are paragraphs and list items.

    >>> count_sentences("Dr. Who paid $3.50. Why? No idea")
    3
    """
    return sum(1 for _ in split_sentences(text))


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences that contain a letter or digit, even if the last one is incomplete.

    They end as in `count_sentences`. Takes linear time.

    >>> list(split_sentences("Dr. Who paid $3.50. Why? No idea"))
    ['Dr. Who paid $3.50.', 'Why?', 'No idea']
    """
    for block in _BLOCK.split(text):
        start = 0
        for end in _SENTENCE_END.finditer(block):
            stop = end.start()
            if end[0] == "." and end.end() < len(block):
                before = block[max(start, stop - 12) : stop]
                if _ABBREVIATION.search(before) or before.strip().isdigit():
                    continue
            if _ALNUM.search(block, start, stop) is not None:
                yield block[start : end.end()].strip()
            start = end.end()
        if _ALNUM.search(block, start) is not None:
            yield block[start:].strip()


def count_lines(text: str) -> int:
    """Count the lines that are not blank."""
    return sum(bool(line.strip()) for line in text.splitlines())


def count_paragraphs(text: str) -> int:
    """Count the blocks of lines that are separated by blank lines."""
    count, blank = 0, True
    for line in text.splitlines():
        count += blank and bool(line.strip())
        blank = not line.strip()
    return count


def squad_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens that SQuAD compares: lower case, no punctuation, no English articles.

    This is the normalisation of the official SQuAD 1.1 script; ASCII text gives exactly its tokens.
    In addition, it removes Unicode punctuation, and each Han or kana character is a token. If
    nothing would remain ("The", "?"), the text keeps its articles, then its punctuation.

    >>> squad_tokens("The U.S. economy, in 1,000 words")
    ('us', 'economy', 'in', '1000', 'words')
    """
    folded = fold(text)
    bare = _cjk().sub(r" \1 ", folded.translate(_dropped)).split()
    return tuple(word for word in bare if word not in _ARTICLES) or tuple(bare or folded.split())


def answer_form(
    text: str,
    *,
    ignore_case: bool = True,
    ignore_accents: bool = True,
    ignore_articles: bool = True,
    apart: bool = False,
) -> str:
    """Return a text in the form for comparing short answers: SQuAD's form with exact numbers.

    It removes punctuation, English articles and repeated white space. It keeps a sign, and `. , : /
    -` between two digits, because "1.5" is not "15" and "-5" is not "5". On request, it removes
    accents on Latin letters; in other scripts a mark is a separate letter and stays. With `apart`,
    punctuation and symbols become a space, so "well-known" becomes "well known".

    >>> answer_form("The Crème, please!"), answer_form("1,000."), answer_form("-1.5")
    ('creme please', '1,000', '-1.5')
    >>> answer_form("A well-known inn", ignore_articles=False, apart=True)
    'a well known inn'
    """
    text = (fold(text) if ignore_case else nfkc(text)).translate(_APOSTROPHES)
    if ignore_accents and not text.isascii():
        # Mark by mark: `normalize` over the whole text would be quadratic in a run of marks.
        text = "".join(unicodedata.normalize("NFD", char) for char in text)
        text = nfkc(_ACCENTS.sub("", text))
    bare = "".join(
        piece if kept else piece.translate(_set_apart if apart else _dropped)
        for piece, kept in zip(_NUMERIC.split(text), cycle((False, True)), strict=False)
    ).split()
    if not ignore_articles:
        return " ".join(bare or text.split())
    words = [word for word in bare if word.casefold() not in _ARTICLES]
    return " ".join(words or bare or text.split())


class _Table(dict[int, int | None]):
    """A table for `translate`, filled for each character on first use."""

    def __init__(self, is_replaced: Callable[[str], bool], by: int | None) -> None:
        self.is_replaced = is_replaced
        self.by = by

    def __missing__(self, code: int) -> int | None:
        self[code] = self.by if self.is_replaced(chr(code)) else code
        return self[code]


def _is_punctuation(char: str) -> bool:
    return char in string.punctuation or unicodedata.category(char)[0] == "P"


def _sets_apart(char: str) -> bool:
    """Return whether a character is punctuation or a symbol; an underscore is neither."""
    return char != "_" and unicodedata.category(char)[0] in "PS"


_dropped = _Table(_is_punctuation, None)
_set_apart = _Table(_sets_apart, ord(" "))
