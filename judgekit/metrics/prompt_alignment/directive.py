"""Directives: the clauses of a request that tell the reader to do something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_REQUEST = 50_000
"""Characters of a request that are read."""
MASK = "\ue000"
"""Stands for each character between quotation marks, so that no rule reads what is quoted."""

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(
    r"\"([^\"\n]{1,1000})\"|“([^”\n]{1,1000})”|«([^»\n]{1,1000})»|`([^`\n]{1,1000})`"
    r"|(?<!\w)'([^'\n]{1,200})'(?!\w)|‘([^’\n]{1,200})’(?!\w)"
)
_BLANKS = re.compile(r"(?<=\s{16})\s")
_BREAK = re.compile(r"[.!?;](?=[\s\"]|$)|:(?=\s)(?!\s*\")|[\n()]")
_MARKER = re.compile(r"\s*(?:[-*+•#>]+\s+|\d{1,3}[.)]\s+)?")

_LEAD = re.compile(
    r"""
    (?: (?: and|then|also|but|so|now|next|finally|lastly|first|second|ok|okay|hi|hello|hey|thanks
          | again|instead|important|note|remember|additionally ) [\s,]+ )*
    (?: (?: please|kindly ) [\s,]+ )?
    (?: (?: can|could|would|will ) \s+ you \s+ (?: please \s+ )?
      | i \s* (?: 'd | ’d | \s would ) \s+ like \s+ you \s+ to \s+
      | i \s+ (?: want|need ) \s+ you \s+ to \s+
      | you \s+ (?: should|must|need\s+to|have\s+to|are\s+to|shall ) \s+ (?= \w )
      | (?: make|be ) \s+ sure \s+ (?: to|that\s+you|you ) \s+
      | remember \s+ to \s+
      | (?: always|only|just|simply|briefly ) \s+
      | help \s+ me \s+ (?: to \s+ )?
    )*
    (?: please \s+ )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
WRITING = (
    "answer|respond|reply|write|explain|describe|summari[sz]e|give|provide|tell|define|compose"
    "|draft|create|generate|produce|outline|rewrite|paraphrase|rephrase|translate|compare|discuss"
    "|introduce|argue|keep|limit|restrict|use|shorten|condense|make|list|name|state|present|show"
    "|return|output|elaborate|analy[sz]e|review|recap|report|convert|format|suggest|recommend"
    "|propose|offer|share|brainstorm|cut|reduce|trim|continue|finish"
)
"""Verbs whose object is the answer itself."""
_VERB = (
    rf"(?:{WRITING}|include|mention|incorporate|contain|insert|say|start|begin|open|end|conclude"
    r"|close|implement|build|code|number|put|organi[sz]e|structure|identify|avoid|refrain|never"
    r"|do\s+not|don['’]t|read|take|look|imagine|act|think|consider|come\s+up)\b"
)
SUBJECT = (
    r"(?:(?:your|the|all)\s+)?(?:(?:entire|whole|final|full)\s+)?"
    r"(?:answers?|responses?|repl(?:y|ies)|outputs?|summar(?:y|ies)|explanations?|essay|email)\s+"
    r"(?:should|must|needs?\s+to|ha(?:s|ve)\s+to|shall|is\s+to|are\s+to)\b"
)
"""How a clause begins that says what the answer must be."""
_START = re.compile(rf"{_VERB}|{SUBJECT}", re.IGNORECASE)
_INNER = re.compile(r",\s*(?:and\s+)?(?:please|then)\s+(?:then\s+)?", re.IGNORECASE)

_LIMIT = (
    r"(?:at\s+(?:most|least)|no\s+(?:more|fewer|less|longer)\s+than|fewer\s+than|less\s+than|under"
    r"|up\s+to|max(?:imum)?|min(?:imum)?|exactly|between|about|around|approximately)\b"
)
# "At most 50 words", "In one sentence, why ...": no verb, but the form is the whole clause.
_FRAGMENT = re.compile(
    rf"(?:(?:in|within|using)\s+(?:{_LIMIT}\s+)?|{_LIMIT}\s+|(?=\d|one\b|two\b|three\b))"
    r"(?:[\w,-]+\s+){0,6}?(?:words?|sentences?|paragraphs?|characters?|bullets|bullet\s+points?)"
    r"(?:\s+(?:max(?:imum)?|or\s+(?:less|fewer|more)|only|please|total|long))*\s*"
    rf"(?:$|,\s*(?:please\b|what\b|why\b|how\b|who\b|when\b|where\b|which\b|can\b|could\b|{_VERB}))",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"(?:what|why|who|when|where|which|how)\b", re.IGNORECASE)
_METHOD = re.compile(
    r"how\s+(?:many|much|long|often|to|do|can|should|could|would|did)\b", re.IGNORECASE
)
_TAIL = re.compile(rf"(?:,\s*in|\bin\s+(?={_LIMIT}))\s*(?=[^,]*$)", re.IGNORECASE)
# A wish that holds sometimes cannot be checked by rule.
_CONDITION = re.compile(
    r"^\s*(?:if|unless|when|whenever|while|although)\b|\b(?:unless|optionally)\b"
    r"|\bif\b(?!\s+possible)"
    r"|\bwhen(?:ever)?\s+(?:appropriate|needed|useful|asked|(?:the|a)\s+user|someone)\b"
    r"|\bwhere\s+(?:appropriate|needed|useful|possible)\b",
    re.IGNORECASE,
)


class Directive(NamedTuple):
    """A clause from its verb on, quotations masked, and where it stands in the request."""

    text: str
    start: int


def find_directives(request: str) -> Iterator[Directive]:
    """Yield the clauses that tell the reader to do something; the first 50,000 characters.

    A clause counts when it begins with an imperative ("List ...", "Could you please list ..."),
    says what the answer must be ("Your answer should ..."), or is the wish itself ("At most 50
    words."). Statements, most questions, conditions ("if ...") and code do not. English only.
    """
    masked = _masked(request[:MAX_REQUEST])
    start = 0
    for end in [*(match.start() for match in _BREAK.finditer(masked)), len(masked)]:
        marker = _MARKER.match(masked, start, end)
        start = marker.end() if marker else start
        clause = masked[start:end].rstrip()
        if len(clause) > 1 and not _CONDITION.search(clause):
            offset = _directive_offset(clause)
            if offset is not None:
                yield Directive(clause[offset:], start + offset)
        start = end + 1


def _directive_offset(clause: str) -> int | None:
    """Return where in a clause the directive begins."""
    lead = _LEAD.match(clause)
    at = lead.end() if lead else 0
    if _START.match(clause, at) or _FRAGMENT.match(clause, at):
        return at
    if _QUESTION.match(clause):
        tail = None if _METHOD.match(clause) else _TAIL.search(clause)
        tail = tail or re.search(r",\s*(?=in\b)[^,]*$", clause, re.IGNORECASE)
        return tail.start() if tail else None
    inner = _INNER.search(clause)
    if inner and _START.match(clause, inner.end()):
        return inner.end()
    return None


def _masked(text: str) -> str:
    """Return the text, as long as before, with code left out and quotations masked.

    A long run of blanks ends a clause: the patterns of wishes look for words apart by blanks, and
    would try every division of the run.
    """
    text = _BLANKS.sub("\n", text)
    text = _FENCED.sub(lambda match: "\n" * len(match[0]), text)
    return _QUOTED.sub(lambda match: f'"{MASK * (len(match[0]) - 2)}"', text)
