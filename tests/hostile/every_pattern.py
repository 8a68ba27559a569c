"""Every regular expression of the package, read from its source, and the texts each one sees."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import judgekit

ROOT = Path(judgekit.__file__).parent
_CALLS = ("compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer")
_CALL = re.compile(rf"\bre\s*\.\s*(?:{'|'.join(_CALLS)})\b")


class Use(NamedTuple):
    """One pattern and how its matches are looked for."""

    where: str
    """File and function or name."""
    source: str
    flags: int
    anchored: bool
    """It is tried at one place only: `match` and `fullmatch`."""


def _benchmarks():
    from judgekit.metrics.benchmarks.wording import wording

    return wording()


def _refusals():
    from judgekit.metrics.safety_and_quality.refusal import _lexicon

    return _lexicon()


def _safety():
    from judgekit.metrics.brand_voice.patterns import _regex, built_in_patterns

    patterns = built_in_patterns().patterns
    sources = (
        each
        for pattern in patterns
        for each in (pattern.find, pattern.unless_before, pattern.unless_after)
    )
    return [_regex(source) for source in dict.fromkeys(sources) if source]


def _traits():
    from judgekit.metrics.brand_voice import traits

    return traits._lists()


def _requests():
    from judgekit.metrics.prompt_alignment.directive import rule_words

    return rule_words()


def _formats():
    from judgekit.judges.output_mode import _FORMAT_WORDS

    return [re.compile(source, re.I) for source in _FORMAT_WORDS.values()]


def _verdict():
    from judgekit.metrics.robustness.robustness import _pattern

    return _pattern(("not met", "partly met", "met"))


def _lint():
    from judgekit.authoring.lint.words import fields, pattern, verdict_with, word_data

    names = [*word_data()["patterns"], *word_data()["exact"]]
    return [fields(), verdict_with("good"), *map(pattern, names)]


def _foreign():
    from judgekit.authoring.lint.foreign import foreign_forms

    return [form.pattern for form in foreign_forms()]


def _difference():
    from judgekit.metrics.personalization.difference import _tokens

    return _tokens()


def _forms():
    from judgekit.privacy.detectors.form import form_data, forms

    return {kind: forms(kind) for kind in form_data()["kinds"]}


def _reserved():
    from judgekit.privacy.detectors.form import form_data

    return [re.compile("".join(source)) for source in form_data()["reserved"].values()]


def _thoughts():
    from judgekit.core.thoughts import _patterns

    return _patterns()


BUILT: dict[str, Callable[[], Any]] = {
    "core/thoughts.py": _thoughts,
    "authoring/lint/words.py": _lint,
    "authoring/lint/foreign.py": _foreign,
    "privacy/detectors/form.py": _forms,
    "privacy/detectors/form.py reserved": _reserved,
    "judges/output_mode.py": _formats,
    "metrics/benchmarks/wording.py": _benchmarks,
    "metrics/prompt_alignment/directive.py": _requests,
    "metrics/personalization/difference.py": _difference,
    "metrics/safety_and_quality/refusal.py": _refusals,
    "metrics/robustness/robustness.py": _verdict,
    "metrics/brand_voice/patterns.py": _safety,
    "metrics/brand_voice/traits.py": _traits,
}
"""Files that build patterns from data or words -> what holds the patterns they build; a name after
the file distinguishes patterns with another bound."""
WORDS = {
    "cli/options.py": "a command line",
    "core/json_extraction.py": "the escaped names of criteria",
    "core/replies/token_distribution.py": "the escaped name of a criterion",
    "judges/parameters.py": "the escaped name of a parameter",
    "authoring/lint/scales.py": "an escaped word, and the word of a number",
    "judges/terminal.py": "an escaped question",
    "metrics/benchmarks/choice.py": "words of the wording",
    "metrics/benchmarks/math_host.py": "three letters; runs in a child process with a time limit",
    "metrics/text/regex.py": "a pattern of the user: bounded by steps or a time limit",
    "datasets/perturb.py": "escaped words",
    "privacy/redact.py": "a pattern of the user, on the user's own cases",
}
"""Files that build patterns of escaped words, or of a pattern of the user, and of what."""
BOUNDS: dict[str, int] = {
    "privacy/detectors/form.py _LOCAL_PART": 64,
    "privacy/detectors/form.py reserved": 800,
    "metrics/safety_and_quality/refusal.py": 1_000,
    "metrics/tokens.py _ABBREVIATION": 12,
}
"""Patterns that see texts of at most this many characters."""
MATCHED = {
    "metrics/markdown.py _BULLET",
    "metrics/markdown.py _NUMBER",
}
"""Patterns that are handed to a function which tries them at the beginning of a line."""
REQUESTS = "metrics/prompt_alignment/directive.py"
CLAUSES = ("directive", "requirements")
"""Modules whose patterns see one clause of a request, without long runs of blanks."""


@cache
def _sources() -> dict[str, str]:
    return {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in sorted(ROOT.rglob("*.py"))
    }


@cache
def _nodes(file: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(_sources()[file])))


@cache
def uses() -> tuple[list[Use], set[str]]:
    """Return every pattern that can be read from the source, and the files with others."""
    readable, built = [], set()
    for file, text in _sources().items():
        if not _CALL.search(text) or not (calls := list(_calls(_nodes(file)[0]))):
            continue
        module = ".".join(("judgekit", *Path(file).with_suffix("").parts)).removesuffix(".__init__")
        names = vars(importlib.import_module(module))
        for holder, node in calls:
            try:
                source, flags = _source(node, names)
            except NameError:
                built.add(file)
                continue
            how = _how(node)
            methods = {how} if how != "compile" else _methods(file, holder)
            anchored = methods <= {"match", "fullmatch"}
            readable.append(Use(f"{file} {holder}".strip(), source, flags, anchored))
    return readable, built


def _calls(tree: Any) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls that make or use a pattern, each with the name at the top it stands under."""
    for statement in tree.body:
        target: Any = statement
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
        elif isinstance(statement, ast.AnnAssign):
            target = statement.target
        holder = getattr(target, "id", getattr(target, "name", ""))
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and _how(node):
                yield holder, node


def _how(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return function.attr if function.value.id == "re" and function.attr in _CALLS else ""
    return ""


def _source(node: ast.Call, names: dict[str, Any]) -> tuple[str, int]:
    def value(of: ast.expr) -> Any:
        return eval(ast.unparse(of), names)

    source = value(node.args[0])
    flags = 0
    how = _how(node)
    place = 1 if how == "compile" else 2
    if how not in ("sub", "subn", "split") and len(node.args) > place:
        flags |= value(node.args[place])
    for keyword in node.keywords:
        if keyword.arg == "flags":
            flags |= value(keyword.value)
    return (source.decode("latin-1") if isinstance(source, bytes) else source), int(flags)


def _methods(file: str, name: str) -> set[str]:
    """Return which methods of a pattern are called; `?` when it is handed on."""
    if f"{file} {name}" in MATCHED:
        return {"match"}
    if name.startswith("_"):
        files = [file]
    elif name.isupper():
        files = [other for other, text in _sources().items() if name in text]
    else:
        return {"?"}  # a function
    return set().union(*(_methods_in(one).get(name, set()) for one in files)) or {"?"}


@cache
def _methods_in(file: str) -> dict[str, set[str]]:
    """Return what is done with each name of a file."""
    methods: dict[str, set[str]] = {}
    called = set()
    for node in _nodes(file):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            methods.setdefault(node.value.id, set()).add(node.attr)
            called.add(node.value)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in called:
            methods.setdefault(node.id, set()).add("?")
    return methods


def built_patterns() -> Iterator[Use]:
    """Yield the patterns that are built from data."""
    for file, build in BUILT.items():
        for pattern in _patterns_in(build(), set()):
            # Those of an answer's wording that begin with blanks are tried after a mention, those
            # of programming languages at the beginning of a line.
            anchored = (
                file == "metrics/benchmarks/wording.py" and pattern.pattern.startswith(r"\s*")
            ) or (file == REQUESTS and not pattern.flags & re.VERBOSE)
            yield Use(file, pattern.pattern, pattern.flags, anchored)


def _patterns_in(value: Any, seen: set[int]) -> Iterator[re.Pattern[str]]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _patterns_in(item, seen)
    elif isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        for item in value:
            yield from _patterns_in(item, seen)
    elif hasattr(value, "__dict__"):
        yield from _patterns_in(vars(value), seen)


def caller(use: Use) -> Callable[[str], Any]:
    """Return what a pattern is called as, on the texts that it sees."""
    pattern = re.compile(use.source, use.flags)
    module = use.where.split()[0].removesuffix(".py").rpartition("/")[2]
    bound = BOUNDS.get(use.where) or BOUNDS.get(use.where.split()[0])
    if use.anchored and not bound:
        return pattern.match
    if module in CLAUSES:
        from judgekit.metrics.prompt_alignment.directive import _BLANKS

        # An attack repeats itself, so its first clauses are like all the others.
        return lambda text: [
            sum(1 for _ in pattern.finditer(clause))
            for clause in _BLANKS.sub("\n", text).split("\n")[:64]
        ]
    if bound:
        return lambda text: [
            sum(1 for _ in pattern.finditer(text[at : at + bound]))
            for at in range(0, min(len(text), 64 * bound), bound)
        ]
    return lambda text: sum(1 for _ in pattern.finditer(text))
