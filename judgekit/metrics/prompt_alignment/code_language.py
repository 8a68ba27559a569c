"""Programming languages: their names in requests, on code fences, and how their code looks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from judgekit.metrics.markdown import Markdown

# Name: the words a fence may carry beside it, and what a line of it looks like.
_LANGUAGES: dict[str, tuple[tuple[str, ...], str]] = {
    "bash": (("sh", "shell", "zsh", "console"), r"#!/|\s*(?:echo|grep|for \w+ in|if \[|\w+=\$)"),
    "c": (("h",), r"#include\s*<|\s*int main\b|\s*printf\("),
    "c#": (("cs", "csharp"), r"\s*using System|\s*namespace \w|.*\bConsole\.|\s*public \w"),
    "c++": (("cpp", "cc", "cxx"), r"#include\s*<|.*\bstd::|\s*int main\b|\s*template\s*<"),
    "css": (("scss", "less"), r"\s*[.#]?[\w-]+\s*\{|\s+[\w-]+:\s*[^;]+;"),
    "dart": ((), r"\s*void main\(|\s*import 'package:"),
    "elixir": (("ex", "exs"), r"\s*defmodule |\s*defp? \w+"),
    "go": (("golang",), r"\s*func[ (]|package \w+$|.*\bfmt\.\w"),
    "haskell": (("hs",), r"\w+ ::|module \w|main ="),
    "html": (
        ("htm", "xhtml"),
        r"(?i:\s*<(?:!doctype|html|head|body|div|p|ul|h[1-6]|form|a|img)\b)",
    ),
    "java": ((), r"\s*(?:public|private|protected) |\s*import java|.*\bSystem\.out\."),
    "javascript": (
        ("js", "jsx", "node", "mjs"),
        r"\s*(?:async )?function\b|\s*(?:const|let|var) \w+ =|.*=>|.*\bconsole\.\w",
    ),
    "julia": (("jl",), r"\s*function \w+\(|\s*using \w|\s*println\("),
    "kotlin": (("kt", "kts"), r"\s*(?:\w+ )*fun \w|\s*va[lr] \w"),
    "lua": ((), r"\s*(?:local )?function \w|\s*local \w+ ="),
    "matlab": (("m",), r"\s*function .*=|\s*disp\("),
    "perl": (("pl",), r"\s*(?:use strict|my [$@%]|sub \w)|.*\bprint "),
    "php": ((), r"<\?php|\s*\$\w+ =|\s*function \w+\("),
    "powershell": (("ps1", "pwsh"), r"\s*(?:Get|Set|New|Write|Remove)-\w|\s*\$\w+ ="),
    "python": (
        ("py", "python3", "pycon", "ipython"),
        r"\s*(?:async )?def \w+\(|\s*class \w+[:(]|import \w|from [\w.]+ import |\s*print\(",
    ),
    "r": (("rscript",), r".*<- |\s*library\("),
    "ruby": (("rb",), r"\s*def \w|\s*puts |\s*require ['\"]|\s*class \w+\s*(?:<|$)"),
    "rust": (("rs",), r"\s*(?:pub )?fn \w|\s*let mut |\s*impl\b|.*\bprintln!"),
    "scala": ((), r"\s*def \w|\s*(?:case )?(?:object|class) \w|\s*va[lr] \w"),
    "sql": (
        ("mysql", "postgresql", "postgres", "sqlite", "tsql", "plsql"),
        r"(?i:\s*(?:select|insert into|update|delete from|create table|with)\b)",
    ),
    "swift": ((), r"\s*func \w|import \w+$|\s*(?:let|var) \w+(?::| =)"),
    "typescript": (("ts", "tsx"), r"\s*(?:interface|type) \w|.*\w: (?:string|number|boolean)|.*=>"),
}

_SPELLINGS = {"golang": "go", "shell": "bash", "js": "javascript", "ts": "typescript"}

# Words of everyday English only count with their capital.
_PLAIN = (
    r"python|javascript|typescript|java|c\+\+|c\#|golang|php|kotlin|sql|bash|shell|perl|haskell"
    r"|html|css|powershell|matlab|elixir"
)
LANGUAGE = rf"(?:(?i:{_PLAIN})|(?-i:Go|Rust|Ruby|Swift|Scala|Lua|Dart|Julia|R|C|JS|TS))(?![\w+#'-])"
"""A pattern for the name of a language in a request."""


def language_name(written: str) -> str:
    """Return the one name of a language that a request names.

    >>> language_name("Golang"), language_name("Python")
    ('go', 'python')
    """
    return _SPELLINGS.get(written.lower(), written.lower())


def has_code(markdown: Markdown, language: str) -> bool:
    """Return whether a text holds code, of a language if one is named.

    A fence that carries the language's name is taken at its word, one that carries another's is
    not it. Without a name on the fence, or without a fence, a line must look like the language.
    """
    if not language:
        return bool(markdown.fences) or any(_looks_like(name, markdown.lines) for name in _RAW)
    aliases = (language, *_LANGUAGES[language][0])
    if any(fence.language in aliases for fence in markdown.fences):
        return True
    unnamed = [fence.code.splitlines() for fence in markdown.fences if not fence.language]
    return any(_looks_like(language, lines) for lines in (*unnamed, markdown.lines))


_RAW = ("python", "javascript", "c", "go", "rust")
"""Languages looked for in text without fences when none is named."""


def _looks_like(language: str, lines: Sequence[str]) -> bool:
    pattern = re.compile(_LANGUAGES[language][1])
    return any(pattern.match(line[:500]) for line in lines)
