"""English words for the rules about wording, each as a whole word."""

from __future__ import annotations

import re


def _any(words: str) -> str:
    return "|".join(word.replace("_", r"[\s-]") for word in words.split())


FAULTS = re.compile(
    r"\b(?:no|not|never|nothing|none|without|beyond|too|only|despite|although|instead|rather|"
    r"\w+n't|(?:un|mis|dis|over|in|im|il|ir)\w{4,}|\w+less|"
    + _any(
        "abus\\w* accus\\w* attack\\w* bad bias\\w* blam\\w* bluff\\w* boilerplate break\\w* "
        "broken cheat\\w* claim\\w* clich\\w* conceal\\w* confus\\w* contradict\\w* danger\\w* "
        "deceiv\\w* defect\\w* deni\\w* drift\\w* err error\\w* exaggerat\\w* fabricat\\w* "
        "fail\\w* fake\\w* fals\\w* fault\\w* filler fluff forbid\\w* forbidden forg\\w* guess\\w* "
        "hallucinat\\w* harm\\w* hat\\w* hid\\w* ignor\\w* jargon lack\\w* leak\\w* lie lies lying "
        "manipulat\\w* mistak\\w* mock\\w* off omit\\w* padd\\w* padding penalt\\w* plagiar\\w* "
        "preach\\w* problem\\w* refus\\w* repeat\\w* repetiti\\w* rude\\w* scold\\w* sham\\w* "
        "slur\\w* spam\\w* threat\\w* toxic\\w* typo\\w* vague\\w* verbos\\w* violat\\w* waffl\\w* "
        "wrong\\w* pressur\\w* reveal\\w* expos\\w* los\\w* skip\\w* delay\\w* diagnos\\w*"
    )
    + r")\b",
    re.IGNORECASE,
)
"""Words that name a fault, or the lack of something."""

QUALITIES: dict[str, str] = {
    "accuracy": "accurate accurately correct correctly true truthful factual factually right",
    "clarity": "clear clearly readable understandable legible intelligible",
    "brevity": "concise concisely brief briefly short succinct succinctly terse",
    "completeness": "complete completely comprehensive thorough exhaustive detailed",
    "manner": "polite politely friendly kind kindly respectful respectfully courteous warm "
    "empathetic empathic professional professionally",
    "relevance": "relevant on_topic pertinent",
    "use": "helpful useful actionable practical",
    "safety": "safe harmless",
    "order": "well_structured structured organised organized coherent coherently logical",
    "language": "fluent fluently grammatical grammatically idiomatic well_written",
    "charm": "engaging interesting entertaining funny persuasive convincing",
    "honesty": "honest unbiased neutral balanced fair",
    "novelty": "creative original novel",
    "effort": "fast efficient efficiently cheap",
}
"""Qualities of answers by the judgment they need; a text may ask for one of these."""

_DIMENSION = {
    word.replace("_", " "): name for name, words in QUALITIES.items() for word in words.split()
}
_QUALITY = _any(" ".join(QUALITIES.values()))
_JOINED = re.compile(
    rf"\b({_QUALITY})(?:\s*+,\s*+|(?:\s*+,)?+\s++and/or\s++|(?:\s*+,)?+\s++and\s++(?:also\s+|both\s+)?"
    rf"|\s*+/\s*+|\s+as\s+well\s+as\s+)(?:very\s+|factually\s+|also\s+)?({_QUALITY})\b",
    re.IGNORECASE,
)
_TWO_CLAUSES = re.compile(
    r"\b(?:and|and/or|or|but)\s+(?:also\s+)?"
    r"(?:is|are|does|do|has|have|was|were|will|would|can|could)\s+"
    r"(?:it|they|he|she|the|its|their|this|that|all|any)\b",
    re.IGNORECASE,
)
_AND_OR = re.compile(r"\band/or\b", re.IGNORECASE)


def two_judgments(text: str) -> str | None:
    """Return the words with which an English question asks for two judgments, if any."""
    for match in _JOINED.finditer(text):
        first, second = (" ".join(re.split(r"[\s-]+", match[n].lower())) for n in (1, 2))
        if _DIMENSION.get(first) != _DIMENSION.get(second):
            return match[0]
    second_clause = _AND_OR.search(text) or _TWO_CLAUSES.search(text)
    return second_clause[0] if second_clause else None


_PRAISE = (
    r"good|great|nice|fine|appropriate|proper|adequate|suitable|satisfactory|acceptable|decent|"
    r"reasonable|high[\s-]quality|excellent|effective|optimal|okay|ok|better"
)
_PRAISED = (
    r"answers?|responses?|repl(?:y|ies)|outputs?|texts?|summar(?:y|ies)|translations?|quality|"
    r"tone|style|format(?:ting)?|length|structure|language|grammar|content|wording|writing|work|"
    r"job|detail|level|explanations?|essays?|emails?|messages?|stor(?:y|ies)|code|solutions?|one"
)
VAGUE = re.compile(
    rf"\b(?:{_PRAISE}|appropriately|properly|adequately|suitably|reasonably|effectively|"
    r"(?<!does )well)"
    r"(?=\s*+(?:overall\s*+)?+[.?!]*+\s*+$)"
    rf"|(?<=how )(?:{_PRAISE}|well)(?=\s+(?:is|are|was|were|does|do|did)\b)"
    rf"|\b(?:{_PRAISE})(?=\s+(?:{_PRAISED})\b)"
    r"|\bquality(?=\s+of\s+the\b)|^\s*(?:overall\s+)?quality\b",
    re.IGNORECASE,
)
"""Words of praise without a criterion: at the end, or before the thing to judge."""
ANCHORED = re.compile(
    r"[:;()\d\"“”„‘`]|\b(?:such\s+as|that\s+is|namely|means?|meaning|because|if|when|unless|"
    r"without|with|for|to|under|as|than|in\s+(?:the\s+)?sense|by|according|enough|regarding|"
    r"concerning|whose|which|where|who)\b",
    re.IGNORECASE,
)
"""Words that explain a vague word: a condition, a purpose, a list, a number, an example."""

LEADING = re.compile(
    r"^\s*(?:isn't|aren't|doesn't|don't|didn't|wasn't|won't|wouldn't|shouldn't|hasn't)\b"
    r"|\b(?:obviously|surely|of\s+course|needless\s+to\s+say|undoubtedly|everyone\s+knows|"
    r"as\s+we\s+all\s+know|don't\s+you\s+(?:think|agree)|wouldn't\s+you\s+(?:say|agree)|"
    r"be\s+(?:generous|lenient|kind|nice)|give\s+(?:it\s+)?(?:a\s+)?(?:high|full|low)\s+"
    r"(?:score|marks?|points)|should\s+(?:score|be\s+scored|rate)\s+(?:high|highly|low)|"
    r"how\s+(?:terrible|awful|amazing|wonderful|brilliant|impressive|horrible)\b)",
    re.IGNORECASE,
)
OPINION = re.compile(
    r"\b(?:do|would)\s+you\s+(?:personally\s+)?(?:like|love|enjoy|prefer|think|feel|find|believe)\b"
    r"|\bin\s+your\s+(?:own\s+)?(?:opinion|view|eyes)\b|\byour\s+(?:gut|taste|impression)\b"
    r"|\bhow\s+do\s+you\s+feel\b",
    re.IGNORECASE,
)
POSITION = re.compile(
    r"\b(?:as|see|same\s+as|listed|described|mentioned|defined|given|stated|explained|like)\s+"
    r"(?:above|below)\b|\b(?:above|below)[\s-]mentioned\b|\baforementioned\b|\bditto\b"
    r"|\b(?:the\s+)?(?:previous|preceding|prior|next|following|last|first|second|third|fourth|"
    r"fifth)\s+(?:criterion|criteria|dimension|rubric\s+item)\b"
    r"|\b(?:criterion|criteria|dimension)\s+(?:above|below|#?\d+)\b",
    re.IGNORECASE,
)
POSITION_ELSEWHERE = re.compile(
    r"\b(?:siehe|wie)\s+(?:oben|unten)\b|\bobengenannt\w*|\bci-dessus\b|\bci-dessous\b"
    r"|\b(?:véase|ver|como)\s+(?:más\s+)?(?:arriba|abajo)\b|\bcome\s+sopra\b|\bvedi\s+sopra\b"
    r"|\bzie\s+(?:boven|onder)\b|\bсм\.\s+выше\b|上記|下記",
    re.IGNORECASE,
)
NEGATED = re.compile(
    r"^\s*(?:is|are|does|do|has|have|did|was|were|can|will)\s+(?:the|this|its|an?)\s+"
    r"(?:[\w'-]+\s+){1,2}(?:not|never)\b(?!\s+only)|^\s*(?:is|are|does|do|has)\s+(?:it|they)\s+"
    r"(?:not|never)\b(?!\s+only)",
    re.IGNORECASE,
)
REWARDS_LENGTH = re.compile(
    r"\b(?:the\s+)?(?:longer|more\s+(?:detail(?:ed|s)?|text|words))\b[^.?!]{0,30}\bthe\s+better\b"
    r"|\bas\s+(?:long|detailed|verbose|extensive)\s+as\s+possible\b"
    r"|\bas\s+(?:much|many)\s+(?:detail|details|words|text)\s+as\s+possible\b",
    re.IGNORECASE,
)
UNOBSERVABLE = re.compile(
    r"\b(?:latency|response\s+time|load\s+time|time\s+to\s+first\s+token|tokens\s+per\s+second|"
    r"api\s+costs?|cost\s+per\s+(?:call|request|token)|user\s+(?:satisfaction|retention)|"
    r"click[\s-]through|(?:did|does|do)\s+(?:customers|users|the\s+users?|the\s+customers?)\s+"
    r"(?:buy|come\s+back|return|click|churn))\b",
    re.IGNORECASE,
)
PLACEHOLDER = re.compile(
    r"\b(?:TODO|FIXME|XXX|TBD|TBA)\b|(?i:\blorem\s+ipsum\b)"
    r"|(?i:[<\[](?:your|insert|add|describe|fill\s+in|replace|enter)\b[^<>\[\]]{0,60}[>\]])"
)
BRACES = re.compile(
    r"(?<![{%])\{\s*(?:input|output|response|question|answer|context|reference|prompt|query|text|"
    r"completion|candidate|ground_truth|expected|user_input|model_output|[a-z]+_[a-z_]+|"
    r"[A-Z]+(?:_[A-Z]+)+|INPUT|OUTPUT|RESPONSE|QUESTION|ANSWER|CONTEXT)\s*\}(?!\})"
)
TEMPLATE = re.compile(
    r"\{\{(?!\s*parameters\.[A-Za-z0-9_]+\s*\}\})[^{}]{1,200}\}\}|\{%[^{}]{1,200}%\}"
)
"""Jinja in a text that is no template, except parameters, which are allowed in texts."""
HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff\U000e0000-\U000e007f]")
"""Invisible characters that can hide instructions: direction marks, blanks without width, and
tag characters. Joiners are allowed: some scripts need them."""
FIELDS: dict[str, re.Pattern[str]] = {
    "reference": re.compile(
        r"\b(?:reference|gold|golden|expected|model)\s+(?:answers?|outputs?|solutions?|texts?|"
        r"translations?|summary)\b|\b(?:the|a)\s+references?\b(?!\s+(?:section|list|number|to))"
        r"|\bground[\s-]truth\b",
        re.IGNORECASE,
    ),
    "baseline": re.compile(r"\b(?:the\s+)?baseline(?:\s+answer)?\b", re.IGNORECASE),
    "context": re.compile(
        r"\b(?:retrieved|provided|given|source)\s+(?:passages?|contexts?|documents?|material)\b"
        r"|\bthe\s+passages\b|\bthe\s+retrieved\b",
        re.IGNORECASE,
    ),
    "system": re.compile(r"\bsystem[\s-](?:prompt|message|instructions?)\b", re.IGNORECASE),
    "history": re.compile(
        r"\b(?:conversation|chat|dialogue?)\s+history\b"
        r"|\b(?:earlier|previous)\s+(?:messages|turns)\b",
        re.IGNORECASE,
    ),
}  # fmt: skip
"""Fields of a case, and English words for them."""
