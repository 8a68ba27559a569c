"""Characters that editors and web pages put in place of those of YAML."""

import unicodedata

TYPOGRAPHIC = frozenset("\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u00ab\u00bb\u2033\u2032")


def lookalike(text: object) -> str:
    """Return the end of a message about a name with such a character; empty if it has none.

    Example:
        >>> lookalike("\u201cmine\u201d")
        '; \u201c is a typographic quote: write " instead'
        >>> lookalike("mine")
        ''
    """
    for character in str(text)[:1000]:
        if character in TYPOGRAPHIC:
            return f'; {character} is a typographic quote: write " instead'
        if (name := odd_space(character)) is not None:
            return f"; it contains {name}: write a space, or delete it"
    return ""


def odd_space(character: str) -> str | None:
    """Return the name of a character that looks like a space or nothing; else `None`.

    Example:
        >>> odd_space("\u00a0"), odd_space(" "), odd_space("")
        ('a no-break space (U+00A0)', None, None)
    """
    if character in ("", " ") or unicodedata.category(character) not in ("Zs", "Cf"):
        return None
    name = unicodedata.name(character, "invisible character").lower()
    return f"a {name} (U+{ord(character):04X})"
