"""The redaction rules of a suite, and the salt of their pseudonyms."""

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, model_validator

from judgekit.core.errors import ConfigError, placed
from judgekit.core.file_model import FileModel
from judgekit.core.suggest import suggest
from judgekit.core.yaml_file import Lines

if TYPE_CHECKING:
    from judgekit.privacy.redact import Redact

Builtin = Literal[
    "key", "email", "card", "ip", "phone", "iban", "bank_account", "crypto", "ssn", "passport",
    "driver_license", "national_id", "tax_id", "health_id", "vehicle", "device", "birth_date",
    "coordinates", "address", "name",
]  # fmt: skip
"""The kinds of `judgekit.privacy.detectors`, in the order of their documentation."""


def _rule(value: Any) -> Any:
    """Read a text as the name of a built-in rule, or else as a regular expression."""
    if not isinstance(value, str):
        return value
    if not re.fullmatch(r"[A-Za-z][\w -]*", value):
        return {"pattern": value}
    known = list(get_args(Builtin))
    if value not in known:
        # Otherwise a misspelled name would become a pattern that never matches.
        hint = suggest(value, known, otherwise=f"; write a pattern as {{pattern: {value}}}")
        raise ValueError(f"unknown built-in rule {value!r}{hint}")
    return {"find": value}


class RuleFile(FileModel):
    """One redaction rule: a built-in one, or a pattern."""

    find: Builtin | None = None
    """A built-in rule; each match becomes a pseudonym such as [EMAIL-1f4a09c2]."""
    pattern: str | None = Field(default=None, min_length=1)
    """A regular expression."""
    replace: str = "[REDACTED]"
    """The text that replaces a match."""
    name: str | None = None
    """Replaces a match by a pseudonym instead: ORDER gives [ORDER-1f4a09c2]."""

    @model_validator(mode="after")
    def _one_thing(self) -> "RuleFile":
        if (self.find is None) == (self.pattern is None):
            raise ValueError("give either find or pattern")
        if self.find is not None and len(self.model_fields_set) > 1:
            raise ValueError(f"{self.find!r} is built in and takes no other key")
        if self.name is not None and "replace" in self.model_fields_set:
            raise ValueError("give replace or name, not both")
        return self


Rule = Annotated[RuleFile, BeforeValidator(_rule, json_schema_input_type=str | RuleFile)]


def make_redactor(
    rules: Sequence[RuleFile], *, salt_env: str | None = None, lines: Lines
) -> "Redact | None":
    """Return the function that redacts texts; `None` without rules.

    Args:
        rules: the rules.
        salt_env: environment variable with the secret that keys the pseudonyms.
        lines: where the settings are.

    Raises:
        ConfigError: a rule is wrong, or the salt is missing. Another salt gives other pseudonyms,
            and therefore other request keys.
    """
    salt = os.environ.get(salt_env, "") if salt_env else ""
    if salt_env and not salt:
        where = lines.where("redact_salt_env")
        raise ConfigError(f"{salt_env} is not set in the environment; set it", where=where)
    if not rules:
        return None
    # Imported on first use: loading the detectors takes longer than scoring a case.
    from judgekit.privacy.redact import RedactionRule, redactor

    known: list[str | RedactionRule] = []
    for number, entry in enumerate(rules):
        known.append(entry.find or RedactionRule(entry.pattern or "", entry.replace, entry.name))
        with placed(lines.where("redact", number)):
            redactor(known[-1:])
    return redactor(known, salt=salt)
