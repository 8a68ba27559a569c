"""Rules for shape: lists, tables, JSON and code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judgekit.metrics.prompt_alignment.code_language import LANGUAGE, language_name
from judgekit.metrics.prompt_alignment.directive import SUBJECT, Directive
from judgekit.metrics.prompt_alignment.requirement import Kind, Requirement
from judgekit.metrics.prompt_alignment.rule_words import ABOUT, METHOD, NEGATION, stated, verbose

# "in the bulleted list" is about a list that is there already.
_IN = r"""\b(?:in|as|using|with|into|use) \s+
    (?!(?:the|this|that|these|those|my|your|his|her|its|their|our|last)\b) (?:an?\s+)?
    (?:(?:short|simple|clear|clean|concise|nested)\s+)?"""
_MAKE = r"""^(?:give|make|write|create|provide|produce|generate|return|output) \s+
    (?:(?:me|us)\s+)? an? \s+ (?:\w+\s+)?"""
_SAY = r"(?:answer|respond|reply|return|output|format|produce)"
_JSON = r"json\b (?!\s+(?:parser|schema|file|library|api)|-)"
_THERE = r"(?!\s+(?:above|below|from)\b)"

_SHAPES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "bullet_list",
        verbose(
            rf"""{_IN} (?: bullet(?:ed)?[\s-]*points? | bullets
              | bullet(?:ed|[\s-]points?)? \s+ (?:lists?|form|format) )\b {_THERE}"""
        ),
    ),
    ("bullet_list", verbose(rf"{_MAKE}? bullet(?:ed|[\s-]point)? \s+ list\b")),
    (
        "numbered_list",
        verbose(
            rf"{_IN} (?:numbered|ordered|enumerated) \s+ (?:list|steps|points|items)\b {_THERE}"
        ),
    ),
    ("numbered_list", verbose(rf"{_MAKE}? (?:numbered|ordered) \s+ list\b")),
    (
        "numbered_list",
        verbose(
            r"""^number \s+ (?:each|the|your|all) \s+ (?:\w+\s+)?
            (?:steps?|items?|points?|lines?)\b"""
        ),
    ),
    (
        "table",
        verbose(
            rf"""^(?:present|show|format|answer|respond|give|compare|list|summari[sz]e|put
              |organi[sz]e|display|return|output|write|provide|structure|{SUBJECT})\b .{{0,120}}?
            \b(?:in|as|using|into) \s+ an? \s+ (?:(?:markdown|comparison|simple|summary)\s+)*
            table\b (?!\s+(?:of\s+contents|tennis|cloth|lamp|leg)|[-'’])"""
        ),
    ),
    (
        "table",
        verbose(
            r"""^(?:create|make|give|draw|build|produce|include|write|provide|generate) \s+
            (?:(?:me|us)\s+)? an? \s+ (?: (?:markdown|comparison|summary)\s+table\b
              | table \s+ (?: comparing | showing | listing | summari[sz]ing
                | with\s+(?:the\s+)?(?:\w+\s+)?columns ) )"""
        ),
    ),
    (
        "json",
        verbose(
            rf"""^{_SAY} \s+ (?:(?:only|with|as|in|using)\s+)* (?:an?\s+)?
            (?:(?:valid|raw|only)\s+)* {_JSON}"""
        ),
    ),
    (
        "json",
        verbose(
            rf"""^(?:{_SAY}|list|give|provide|extract|write|create|show|summari[sz]e|present)\b
            .{{0,100}}? \b(?: as\s+(?:an?\s+)?(?:valid\s+)?{_JSON}
              | in\s+(?:valid\s+)?json\s+format\b )"""
        ),
    ),
    (
        "json",
        verbose(
            rf"""^(?: {_SAY}\s+(?:(?:your|the)\s+)?(?:answer|response|result|output|reply|data)s?
              | {SUBJECT} )\b (?:\s+\w+){{0,2}}? \s+ (?:in|as|be|contain) \s+ (?:an?\s+)?
            (?:(?:only|valid|raw)\s+)* {_JSON}"""
        ),
    ),
)


def shapes(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield bulleted and numbered lists, tables and JSON."""
    text = directive.text
    for kind, pattern in _SHAPES:
        for match in pattern.finditer(text):
            # "Explain how it works in bullet points" is a wish, "how it is sent as JSON" is none.
            lists = kind in ("bullet_list", "numbered_list")
            strict = not lists or match[0].lower().startswith("as")
            barred = (NEGATION, METHOD, ABOUT) if strict else (NEGATION, METHOD)
            if not any(words.search(text, 0, match.end()) for words in barred):
                yield Requirement(text=stated(match), kind=kind)


_WRITE = (
    r"^(?:write|create|give|show|provide|implement|generate|make|build|code|return|include)\b"
    r"(?:\s+(?:me|us))?"
)
_NOUN = (
    r"(?:code|function|script|program|class|snippet|one-liner|example|implementation|method|query"
    r"|module|algorithm)"
)
_CODE = (
    # "a short Python function"
    verbose(
        rf"""{_WRITE} (?:\s+(?!{LANGUAGE}\s)[\w-]+){{0,5}}? \s+ (?P<language>{LANGUAGE}) \s+
        {_NOUN}\b"""
    ),
    # "a function that adds two numbers in Python"
    verbose(
        rf"""{_WRITE} [^,]{{0,40}}? \b(?!example){_NOUN}\b [^.]{{0,100}}?
        \bin \s+ (?P<language>{LANGUAGE}) (?!\s+\w*['’])"""
    ),
    verbose(
        rf"""{_WRITE} (?:\s+(?:an?|some|the|one|short|simple|small|working|complete|minimal))*
        \s+ code \s+ (?:block|snippet|example|sample)s?\b"""
    ),
    verbose(
        r"""^(?:write|implement) \s+ (?:me\s+)? an? \s+ (?:\w+\s+)? function \s+
        (?:that|which|to|called|named|taking|returning)\b"""
    ),
    verbose(r"^write \s+ (?:(?:the|some)\s+)? code \s+ (?:that|to|which)\b"),
)
_STORY = verbose(r"\b(?:about|story|poem|essay|play)\b")


def code(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield the wish for code, of a language if one is named."""
    for pattern in _CODE:
        match = pattern.match(directive.text)
        if match and not _STORY.search(match[0]):
            language = match.groupdict().get("language") or ""
            yield Requirement(text=stated(match), kind="code", argument=language_name(language))
            return
