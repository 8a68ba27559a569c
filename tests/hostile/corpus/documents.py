"""YAML that is meant to break a reader: a name, the text, words of the refusal (or the value)."""

from __future__ import annotations

GOOD = "a: 1\n"


def _aliases():
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    return "\n".join(rows)


REFUSED = {
    "aliases of aliases": (_aliases(), "more than 200,000 values"),
    "an alias of itself": ("a: &a [*a]", "nested more than 60 deep"),
    "an alias of itself in a mapping": ("a: &a\n  b: *a", "nested more than 60 deep"),
    "an alias of nothing": ("a: *b", "undefined alias"),
    "lists in lists": ("[" * 500_000, "nested more than 60 deep"),
    "closed lists in lists": ("[" * 100_000 + "]" * 100_000, "nested more than 60 deep"),
    "mappings in mappings": ("{a: " * 100_000, "nested more than 60 deep"),
    "dashes": ("- " * 300_000, "nested more than 60 deep"),
    "many values": ("[" + "1," * 200_001 + "]", "more than 200,000 values"),
    "many keys": ("\n".join(f"k{n}: 1" for n in range(100_001)), "more than 200,000 values"),
    "a call": ("a: !!python/object/apply:os.system ['touch MARK']", "is not allowed"),
    "a module": ("a: !!python/module:os", "is not allowed"),
    "a name": ("a: !!python/name:os.system", "is not allowed"),
    "an object": ("a: !!python/object:os.system {x: 1}", "is not allowed"),
    "a new object": ("!!python/object/new:os.system [touch MARK]", "is not allowed"),
    "a call as a key": ("? !!python/object/apply:os.system ['touch MARK']\n: 1", "is not text"),
    "a tag of ours": ("a: !secret x", "is not allowed"),
    "a set": ("a: !!set {x, y}", "is not allowed"),
    "pairs": ("a: !!omap [x: 1]", "is not allowed"),
    "binary": ("a: !!binary aGVsbG8=", "is not allowed"),
    "a key twice": ("a: 1\nb: 2\na: 3", "'a' is given twice"),
    "a key twice, once in quotes": ("a: 1\n'a': 3", "'a' is given twice"),
    "merged keys": ("x: &x {a: 1}\ny:\n  <<: *x", "`<<` is not supported"),
    "a key that is a number": ("1: x", "'1' is not text"),
    "a key that is true": ("true: x", "'true' is not text"),
    "base 8 or 10": ("a: 010", "'010' differently; write 10, or \"010\" in quotes"),
    "base 8 of YAML 1.2": ("a: 0o10", "'0o10' differently; write 8, or \"0o10\" in quotes"),
    "base 2": ("a: -0b11", "'-0b11' differently; write -3, or"),
    "a number or a code": ("a: 0089", 'write 89, or "0089" in quotes'),
    "digits in groups": ("a: 1_000", 'write 1000, or "1_000" in quotes'),
    "digits in groups and a fraction": ("a: 1_0.5", 'write 10.5, or "1_0.5" in quotes'),
    "yes": ("a: [yes]", 'write true, or "yes" in quotes'),
    "off": ("a: Off", 'write false, or "Off" in quotes'),
    "no number": ("a: !!int abc", "cannot read 'abc'; quote it"),
    "a number beyond floats without a dot": ("a: 1e999", "'1e999' is not a finite number"),
    "a key that is null": ("~: x", "'~' is not text"),
    "a key that is a list": ("? [a]\n: 1", "'this key' is not text"),
    "not a number": ("a: .nan", "'.nan' is not a finite number"),
    "infinity": ("a: -.inf", "'-.inf' is not a finite number"),
    "a number beyond floats": ("a: 1.0e+999", "'1.0e+999' is not a finite number"),
    "a long number": ("a: " + "9" * 1_000_000, "too long for a number"),
    "a long number of base 16": ("a: 0x" + "f" * 1_000_000, "too long for a number"),
    "a long fraction": ("a: 0." + "1" * 1_000_000, "too long for a number"),
    "a tab": ("a:\n\t- b", "not valid YAML"),
    "NUL": ("a: x\nb: \x00", "control characters are not allowed"),
    "an escape sequence": ("a: \x1b[31m", "control characters are not allowed"),
    "two documents": ("a: 1\n---\nb: 2", "not valid YAML"),
    "an unclosed quote": ("a: 'x", "not valid YAML"),
    "an unclosed list": ("a: [x", "not valid YAML"),
    "a directive": ("%YAML 9.9\n---\na: 1", "not valid YAML"),
    "a long key": ("? " + "k" * 2_000_000 + "\n: 1\n? " + "k" * 2_000_000 + "\n: 2", "given twice"),
}

READ = {
    "a date is text": ("a: 2024-01-01", {"a": "2024-01-01"}),
    "a time is text": ("a: 12:30", {"a": "12:30"}),
    "a long row of minutes is text": ("a: 1" + ":59" * 100_000, {"a": "1" + ":59" * 100_000}),
    "a long text": ("a: " + "x" * 1_000_000, {"a": "x" * 1_000_000}),
    "line ends of Windows": ("a: 1\r\nb: 2\r\n", {"a": 1, "b": 2}),
    "nothing": ("", None),
    "words for true and false as keys": ("{yes: 1, No: 0, on: 2}", {"yes": 1, "No": 0, "on": 2}),
    "numbers": ("[0, -3, +12, 0x1F, 1.50, .5, 5.]", [0, -3, 12, 31, 1.5, 0.5, 5.0]),
    "powers of ten": ("[1e3, 1E-3, 1.5e3, 1.0e+3]", [1000.0, 0.001, 1500.0, 1000.0]),
    "true and null": ("[true, False, TRUE, null, ~, Null,]", [True, False, True, None, None, None]),
    "almost numbers": (
        "[1.2.3, 1e, -, 0x, y, =, 0o99]",
        ["1.2.3", "1e", "-", "0x", "y", "=", "0o99"],
    ),
    "digits tagged as text": ("a: !!str 010", {"a": "010"}),
    "digits in quotes and blocks": ("a: '010'\nb: |-\n  010\n", {"a": "010", "b": "010"}),
    "only a marker": ("---", None),
    "a marker before": ("---\na: 1\n", {"a": 1}),
    "quotes": ("a: '1'\nb: \"yes\"", {"a": "1", "b": "yes"}),
    "an escaped escape": ('a: "\\e[31m"', {"a": "\x1b[31m"}),
    "an honest alias": ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
}
