"""Names that a result does not have, such as `report.mean` or `score["value"]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from judgekit.core.errors import WrongName
from judgekit.core.suggest import suggest
from judgekit.core.synonyms import synonym

V = TypeVar("V")


class ByName(dict[str, V]):
    """A dict whose error about a missing name suggests names."""

    def __init__(self, values: Mapping[str, V], *, what: str) -> None:
        super().__init__(values)
        self.what = what
        """What a name stands for, such as `metric`."""

    def __missing__(self, name: Any) -> V:
        raise WrongName(f"no {self.what} named {name!r:.80}{suggest(name, self)}")


def wrong_attribute(owner: object, name: str) -> WrongName:
    """Return the error about an attribute that a value does not have."""
    names = attributes(owner)
    meant = getattr(type(owner), "other_names", {}).get(name)
    hint = f"; did you mean {meant!r}?" if meant else synonym("attribute", name, names)
    hint = hint or suggest(name, names)
    return WrongName(f"{type(owner).__name__} has no attribute {name!r:.80}{hint}")


def wrong_entry(owner: object, key: Any) -> WrongName:
    """Return the error about `owner[key]`."""
    names = attributes(owner)
    metrics = getattr(owner, "metrics", None) if "metrics" in names else None
    if isinstance(metrics, Mapping) and key in list(metrics):
        hint = f"; write .metrics[{key!r:.80}]"
    elif isinstance(key, int) and "results" in names:
        hint = "; loop over .results"
    elif isinstance(key, str) and key in names:
        hint = f"; write .{key}"
    else:
        hint = suggest(key, names)
    return WrongName(f"{type(owner).__name__} has attributes, not [{key!r:.80}]{hint}")


def attributes(owner: object) -> list[str]:
    """Return the public names of a value, without those of pydantic."""
    known = {*dir(type(owner)), *getattr(type(owner), "model_fields", ()), *vars(owner)}
    return [
        name for name in known
        if not name.startswith(("_", "model_")) and name not in _OF_PYDANTIC
    ]  # fmt: skip


_OF_PYDANTIC = frozenset(
    {"construct", "copy", "dict", "from_orm", "json", "other_names", "parse_file", "parse_obj"}
    | {"parse_raw", "schema", "schema_json", "update_forward_refs", "validate"}
)
