"""The redaction of a suite: its rules, and the salt of its pseudonyms."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from judgekit.core.errors import ConfigError, placed
from judgekit.core.yaml_file import Lines
from judgekit.suite.file import SuiteFile
from judgekit.suite.redact_file import RedactFile

if TYPE_CHECKING:
    from judgekit.cassette.redact import Redact


def make_redactor(file: SuiteFile | RedactFile, *, lines: Lines) -> Redact | None:
    """Return the function that redacts texts; `None` without rules.

    Raises:
        ConfigError: a rule is wrong, or the salt is missing. Another salt gives other pseudonyms,
            and so other request keys.
    """
    name = file.redact_salt_env
    salt = os.environ.get(name, "") if name else ""
    if name and not salt:
        where = lines.where("redact_salt_env")
        raise ConfigError(f"{name} is not set in the environment; set it", where=where)
    if not file.redact:
        return None
    # Loaded late: the detectors take longer to load than a case to score.
    from judgekit.cassette.redact import RedactionRule, redactor

    rules = []
    for number, entry in enumerate(file.redact):
        rule: str | RedactionRule = entry.find or RedactionRule(
            entry.pattern or "", entry.replace, entry.name
        )
        with placed(lines.where("redact", number)):
            redactor([rule])
        rules.append(rule)
    return redactor(rules, salt=salt)
