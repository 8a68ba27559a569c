"""The redaction of a suite: its rules, and the salt that keys its pseudonyms."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from judgekit.core.errors import ConfigError
from judgekit.core.yaml_file import Lines
from judgekit.suite.file import RedactFile, RuleFile, SuiteFile

if TYPE_CHECKING:
    from judgekit.cassette.redact import Redact, RedactionRule


def make_redactor(file: SuiteFile | RedactFile, *, lines: Lines) -> Redact | None:
    """Return what redacts the texts of a suite; `None` if nothing is to be.

    Raises:
        ConfigError: a rule is wrong, or the salt it wants is not there: without it other
            pseudonyms would come out, and nothing recorded would be found.
    """
    name = file.redact_salt_env
    salt = os.environ.get(name, "") if name else ""
    if name and not salt:
        where = lines.where("redact_salt_env")
        raise ConfigError(f"{name} is not set in the environment", where=where)
    if not file.redact:
        return None
    # What finds secrets takes longer to load than a case to score.
    from judgekit.cassette.redact import redactor

    rules = []
    for number, entry in enumerate(file.redact):
        rule = _rule(entry)
        try:
            redactor([rule])
        except ConfigError as exc:
            raise ConfigError(str(exc), where=lines.where("redact", number)) from exc
        rules.append(rule)
    return redactor(rules, salt=salt)


def _rule(entry: RuleFile) -> str | RedactionRule:
    if entry.pattern is None:
        return str(entry.find)
    from judgekit.cassette.redact import RedactionRule

    return RedactionRule(entry.pattern, entry.replace, entry.name)
