"""Characters that editors and web pages put in place of those of YAML."""

import unicodedata

_QUOTES = frozenset("\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u00ab\u00bb\u2033\u2032")


def lookalike(text: object) -> str:
    """Return the end of a message about a name with such a character; empty if it has none.

    Example:
        >>> lookalike("\u201cmine\u201d")
        '; \u201c is a typographic quote: write " instead'
        >>> lookalike("mine")
        ''
    """
    for character in str(text)[:1000]:
        if character in _QUOTES:
            return f'; {character} is a typographic quote: write " instead'
        if character != " " and unicodedata.category(character) in ("Zs", "Cf"):
            name = unicodedata.name(character, "invisible character").lower()
            return f"; it contains a {name} (U+{ord(character):04X}): write a space, or delete it"
    return ""
