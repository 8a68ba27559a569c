"""Sanitize cases: replace personal data in every field, and count it by kind and field."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from judgekit.core.canonical import digest
from judgekit.core.case import Case
from judgekit.core.display.parts import DisplayLine, DisplayTable, counted
from judgekit.core.display.text import to_text
from judgekit.core.errors import ConfigError
from judgekit.core.json_document import json_document
from judgekit.core.output_file import LINK, is_link
from judgekit.datasets.ids import IdSet, derive_id, is_derived
from judgekit.datasets.load import ENDINGS
from judgekit.datasets.write import write_cases
from judgekit.privacy.detectors import pseudonym
from judgekit.privacy.redact import NAMES, Redact, redact_fields, redactor

_ROOM = 990
"""Maximum length of an id without the number that may be appended."""
# Narrower than judgekit's detectors: no area code in parentheses, and the + of +1 is kept.
_ALIGNMENTER = {
    "email": re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@[A-Za-z0-9.-]{1,253}\.[A-Za-z]{2,24}\b"),
    "phone": re.compile(r"(?<!\w)(?:1[-.])?\d{3}[-.]?\d{3}[-.]?\d{4}(?!\w)"),
    "ssn": re.compile(r"(?<!\w)\d{3}-\d{2}-\d{4}(?!\w)"),
    "card": re.compile(r"(?<!\w)\d{4}[- ]?\d{4}[- ]?\d{4}[- ]?\d{4}(?!\w)"),
}
"""Kind -> the pattern of Alignmenter's sanitizer, in the order of application."""


class Sanitizer:
    """Replaces personal data in cases.

    Args:
        kinds: the kinds to replace; all by default.
        replacement: `pseudonym` (`[EMAIL-1f4a09c2]`) distinguishes values, `kind` (`[EMAIL]`) does
            not.
        salt: keys the digests of pseudonyms.
        compat: the four patterns of Alignmenter's sanitizer, and its replacements, such as
            `email_0a1b2c3d` or `[EMAIL_REDACTED]`.

    Attributes:
        counts: (kind, field) -> number of values replaced.
        cases: cases read.
        changed: cases with a replaced value.

    Raises:
        ConfigError: a kind is unknown, or two settings contradict each other.

    >>> sanitizer = Sanitizer(["email"], replacement="kind")
    >>> sanitizer.sanitize(Case(id="a", input="I am ann@example.com")).input
    'I am [EMAIL]'
    """

    def __init__(
        self,
        kinds: Sequence[str] = (),
        *,
        replacement: Literal["pseudonym", "kind"] = "pseudonym",
        salt: str = "",
        compat: Literal["alignmenter"] | None = None,
    ) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.cases = self.changed = 0
        self._field = ""
        self._ids = IdSet()
        self._renamed: dict[str, str] = {}
        self._is_hashed, self._salt = replacement == "pseudonym", salt.encode()
        self._redact: Redact = self._as_alignmenter
        if compat is None:
            self._redact = redactor(kinds or NAMES, replace=self._replace)
        elif kinds or salt:
            raise ConfigError(f"compat {compat} has its own kinds and no salt; leave them out")

    def sanitize(self, case: Case) -> Case:
        """Return a case without personal data; its id stays unique.

        An id that was derived from the content is derived again, because a short text can be found
        from its digest by trying all values.
        """
        self.cases += 1
        before = self.counts.total()
        clean = redact_fields(case, self._in_field, by_name=True)
        id, parent = clean.id, clean.parent
        if self.counts.total() > before:
            self.changed += 1
            id = derive_id(clean) if is_derived(case) else id
        if case.parent is not None and parent is not None and parent != case.parent:
            parent = self._renamed.get(case.parent) or self._rename(case.parent, parent)
        id = self._renamed.get(case.id) or self._rename(case.id, id)
        return clean.model_copy(update={"id": id, "parent": parent})

    def _rename(self, id: str, clean: str) -> str:
        """Return a unique new id; the same old id always gets the same new id."""
        new, number = clean, 2
        while not self._ids.add(new):
            new = f"{clean[:_ROOM]}-{number}"
            number += 1
        if new != id:
            self._renamed[id] = new
        return new

    def _in_field(self, field: str) -> Redact:
        self._field = field  # fields are redacted one after the other
        return self._redact

    def _replace(self, kind: str, value: str) -> str:
        self.counts[kind, self._field] += 1
        return pseudonym(kind, value, self._salt) if self._is_hashed else f"[{kind.upper()}]"

    def _as_alignmenter(self, text: str) -> str:
        for kind, pattern in _ALIGNMENTER.items():
            text = pattern.sub(partial(self._replace_match, kind), text)
        return text

    def _replace_match(self, kind: str, match: re.Match[str]) -> str:
        self.counts[kind, self._field] += 1
        name = "cc" if kind == "card" else kind
        hashed = f"{name}_{digest(match[0].encode('utf-8', 'surrogatepass'))[:8]}"
        return hashed if self._is_hashed else f"[{name.upper()}_REDACTED]"

    def text(self, *, out: Path | None) -> str:
        """Return the counts as a table, and the written files."""
        rows = [(kind, field, f"{count:,}") for (kind, field), count in sorted(self.counts.items())]
        table = DisplayTable(("kind", "field", "values"), rows, numbers=(2,))
        values, cases = counted(self.counts.total(), "value"), counted(self.cases, "case")
        end = "would be replaced; nothing was written" if out is None else "replaced"
        lines = [DisplayLine(f"{values} in {self.changed:,} of {cases} {end}")]
        if out is not None:
            lines.append(DisplayLine(f"{cases} written to {out}"))
        return to_text([table, *lines] if rows else lines).lstrip("\n") + "\n"

    def json_text(self) -> str:
        """Return the counts as JSON: kind -> field -> number of values."""
        kinds: dict[str, dict[str, int]] = {}
        for (kind, field), count in sorted(self.counts.items()):
            kinds.setdefault(kind, {})[field] = count
        data = {"cases": self.cases, "changed": self.changed, "counts": kinds}
        return json_document("sanitized", data) + "\n"


def write_sanitized(cases: Iterable[Case], sanitizer: Sanitizer, out: Path | None) -> None:
    """Write sanitized cases as JSON Lines; only count for `None`.

    Raises:
        OSError: the file cannot be written; an existing file is unchanged.
    """
    if out is not None:
        write_cases(map(sanitizer.sanitize, cases), out)
        return
    for case in cases:
        sanitizer.sanitize(case)


def check_output(source: str, out: Path, *, force: bool) -> None:
    """Check that an output file is not the input, does not exist, and has the right extension.

    Raises:
        ConfigError: the file may not be written.
    """
    is_source = source != "-" and out.exists() and Path(source).exists() and out.samefile(source)
    ending = out.suffix.lower()
    other_format = ending == ".gz" or ENDINGS.get(ending, "jsonl") != "jsonl"
    problems = {
        "is a folder; name a file": out.is_dir(),
        f"there is no folder {out.parent}; make it": not out.parent.is_dir(),
        LINK: is_link(out),
        "is the file of the cases; name another file": is_source,
        f"cases are written as JSON Lines; name it {out.stem}.jsonl": other_format,
        "is there already; name another file, or --force replaces it": out.exists() and not force,
    }
    for problem, is_there in problems.items():
        if is_there:
            raise ConfigError(f"--out {out}: {problem}")


def salt_of(variable: str | None) -> str:
    """Return the salt in an environment variable; empty without a variable.

    Raises:
        ConfigError: the variable is not set.
    """
    salt = os.environ.get(variable, "") if variable else ""
    if variable and not salt:
        raise ConfigError(f"--salt-env: {variable} is not set in the environment; set it")
    return salt
