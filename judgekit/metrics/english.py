"""Is a text English? The sentiment lexicons know no other language."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
SAMPLE = 20_000
"""Characters looked at."""

# Words that carry grammar and are common; those that two of the languages share are left out.
_FUNCTION_WORDS = {
    "en": "the and of to is that it for with you this are be at have not they we she been were"
    " which would there their what when who will can if your how its our could than because about"
    " these those i'm it's don't that's you're isn't can't",
    "de": "der das und ist nicht ein eine mit auf für den dem des sich auch wird sind ich wir sie"
    " aber oder wenn weil noch nur über bei kann haben wurde zum zur vom",
    "fr": "le les des est pas une dans que qui sur avec vous nous sont mais cette ces"
    " être très c'est n'est je il elle du aux",
    "es": "el los las que por para una con está este esta pero muy más sus fue como está"
    " también usted porque del al",
    "it": "il che di non una per con sono è questo questa ma più della del gli nella molto anche"
    " perché lo mi ho ha",
    "pt": "o que não uma para com está este esta mas muito mais dos das seu sua são também você"
    " porque da em na os",
    "nl": "het een van dat niet zijn voor met ook maar deze wordt heeft naar bij nog wel geen"
    " mijn je ik wij",
}  # fmt: skip
FUNCTION_WORDS = {code: frozenset(words.split()) for code, words in _FUNCTION_WORDS.items()}


def is_english(text: str) -> bool | None:
    """Return whether a text is English; `None` where its words do not tell.

    By its common small words, counted against those of six other languages, and by its letters:
    a text mostly in another alphabet is not English. Short texts such as "Great service!" hold
    none of the words and do not tell.

    >>> is_english("The sky is blue."), is_english("Der Himmel ist blau."), is_english("Super!")
    (True, False, None)
    """
    words = [w.lower().replace("’", "'") for w in _WORD.findall(text[:SAMPLE])]
    if not words:
        return None
    letters = "".join(words)
    if sum(letter.isascii() for letter in letters) < 0.8 * len(letters):
        return False
    counts = {code: sum(word in known for word in words) for code, known in FUNCTION_WORDS.items()}
    english = counts.pop("en")
    other = max(counts.values())
    if not english and not other:
        return None
    return english > other
