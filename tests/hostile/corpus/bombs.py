"""Templates too long to be written down: a name, a body, words of the refusal."""

from __future__ import annotations

from collections.abc import Iterator


def bombs() -> Iterator[tuple[str, str, str]]:
    """Yield name, body and words of the refusal."""
    again = 60
    yield (
        "doubling by ~",
        "{% set x = 'a' %}" + "{% set x = x ~ x %}" * again + "{{ x }}",
        "text of",
    )
    yield (
        "doubling by +",
        "{% set x = 'a' %}" + "{% set x = x + x %}" * again + "{{ x }}",
        "text of",
    )
    block = "{% set x %}{{ x }}{{ x }}{% endset %}"
    yield "doubling by blocks", "{% set x = 'a' %}" + block * again, "more than"
    macros = "{% macro m0() %}aaaaaaaaaa{% endmacro %}" + "".join(
        f"{{% macro m{n + 1}() %}}{{{{ m{n}() }}}}{{{{ m{n}() }}}}{{% endmacro %}}"
        for n in range(again)
    )
    yield "doubling by macros", macros + f"{{{{ m{again}() }}}}", "more than"
    replaced = "{% set x = x | replace('a', 'aa') %}"
    yield "doubling by replace", "{% set x = 'a' %}" + replaced * again, "more than"
    joined = "{% set x = [x, x] | join %}"
    yield "doubling by join", "{% set x = 'a' %}" + joined * again, "text of"
    indented = "{% set x = x | replace('\\n', '\\n\\n') | indent(40) %}"
    yield "doubling by indent", "{% set x = 'a\\nb' %}" + indented * again, "more than"
    yield (
        "constants folded by the compiler",
        "{{ 'a'" + " | replace('a', 'aa')" * again + " }}",
        "more than",
    )
    filtered = "{% filter replace('a', 'aa') %}" * 40 + "a" + "{% endfilter %}" * 40
    yield "doubling by filter blocks", filtered, "more than"

    lists = "{% set a = [1] %}" + "{% set a = [a, a] %}" * again
    other = lists.replace("a ", "b ").replace("[a, a]", "[b, b]")
    yield "lists that hold themselves, compared", lists + other + "{{ a == b }}", "steps"
    yield "lists that hold themselves, as JSON", lists + "{{ a | json }}", "steps"
    yield "lists that hold themselves, sorted", lists + other + "{{ [a, b] | sort }}", "steps"
    yield "lists that hold themselves, tested", lists + other + "{{ a is eq(b) }}", "steps"
    yield "lists that hold themselves, searched", lists + other + "{{ a in [b] }}", "steps"
    tuples = lists.replace("[a, a]", "(a, a)")
    yield "tuples that hold themselves, unique", tuples + "{{ [a] | unique | list }}", "steps"
    long = "{% set x = case.reference[0] %}"
    yield "a long text many times", long + "{{ [" + "x," * 20 + "] | json }}", "text of"
    yield "a long text many times, joined", long + "{{ [" + "x," * 1000 + "] | join }}", "more than"
    slices = ",".join(f"x[{n}:]" for n in range(100))
    yield "slices in a list", long + "{% set y = [" + slices + "] %}", "produced more than"
    parts = ",".join("x ~ 'a'" for _ in range(100))
    yield "texts in a list", long + "{% set y = [" + parts + "] %}", "produced more than"

    yield "parentheses", "{{ " + "(" * 90_000 + "1" + ")" * 90_000 + " }}", "too deeply"
    yield "lists in lists", "{{ " + "[" * 90_000 + "]" * 90_000 + " }}", "too deeply"
    yield "a long sum", "{{ " + "1+" * 90_000 + "1 }}", "more than 20,000 tokens"
    yield "a chain of filters", "{{ 1" + "|abs" * 40_000 + " }}", "more than 20,000 tokens"
    yield "not not not", "{{ " + "not " * 40_000 + "1 }}", "too deeply"
    yield "blocks in blocks", "{% if mode %}" * 7_000 + "{% endif %}" * 7_000, "too deeply"
    loops = "{% for a in groups %}" * 30 + "{% endfor %}" * 30
    yield "loops in loops in loops", loops, "too many statically nested blocks"
    yield "a huge list", "{% for a in [" + "1," * 600_000 + "] %}{% endfor %}", "larger than"
    yield "a megabyte of template", "x" * 900_000, "more than 200,000 characters"
    big = "{% for a in [" + "1," * 90_000 + "] %}{% for b in case.input %}{% endfor %}{% endfor %}"
    yield "a long list in a loop", big, "more than 20,000 tokens"
    wide = "{% for a in case.input %}" + "{{ a }}" * 20_000 + "{% endfor %}"
    yield "a wide body in a loop", wide, "more than 20,000 tokens"
    bodies = "{% macro m() %}" + "." * 150_000 + "{% endmacro %}{% for a in case.input %}"
    yield "a long macro in a loop", bodies + "{{ m() }}{% endfor %}", "produced more than"
    lines = "{% for a in case.input %}" + "{% if mode %}a{% endif %}" * 5_000 + "{% endfor %}"
    yield "many statements in a loop", lines, "more than 20,000 tokens"
