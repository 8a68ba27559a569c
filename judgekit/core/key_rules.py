"""How keys of requests have changed, so that recordings under older keys are still found.

A rule of `KEY_RULES` belongs to the generation of keys that it introduced, and makes the older form
of a request from a newer one. A request is looked up under its own key first, then under the key
of each older form, the newest first. Generation 1 is the first one: the request as it was sent.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.core.canonical import digest_json
from judgekit.core.request import About, Request
from judgekit.core.sourced import read_tables
from judgekit.core.value import Json

_DATA = Path(__file__).with_name("data") / "unkeyed_params.json"


class UnkeyedParams(NamedTuple):
    """Parameters that cannot change a reply; a row of `data/unkeyed_params.json`."""

    providers: tuple[str, ...]
    """First parts of model names; `*` for all."""
    fields: tuple[str, ...]
    reason: str
    source: str
    """The documentation that says so."""


class KeyRule(NamedTuple):
    """One change of keys."""

    generation: int
    """The generation of keys that has this change, from 2."""
    name: str
    """The name in `run.json`."""
    words: str
    """What older keys had, for messages."""
    older: Callable[[Request], Request]
    """Returns the form of the generation before; the same object if it does not differ."""
    shared: bool = False
    """Whether requests with different replies may have the same older form."""


class OlderForm(NamedTuple):
    """A request as it was recorded by an earlier generation of keys."""

    request: Request
    rule: KeyRule
    """The oldest of the rules that were undone."""
    shared: bool
    """Whether its record may belong to another request."""


@lru_cache
def unkeyed_table() -> tuple[UnkeyedParams, ...]:
    """Return the parameters that cannot change a reply, by provider."""
    return tuple(
        UnkeyedParams(
            providers=tuple(row["providers"]),
            fields=tuple(row["fields"]),
            reason=row["reason"],
            source=row["source"],
        )
        for row in read_tables(_DATA)["params"]
    )


@lru_cache(maxsize=64)
def unkeyed_fields(model: str) -> frozenset[str]:
    """Return the names of the parameters that cannot change a reply of a model."""
    # A model without a provider is one of litellm's, mostly OpenAI's, but not surely.
    provider, slash, _ = model.partition("/")
    names = {"*", provider} if slash else {"*"}
    rows = (row for row in unkeyed_table() if names.intersection(row.providers))
    return frozenset(name for row in rows for name in row.fields)


@lru_cache
def ever_unkeyed() -> frozenset[str]:
    """Return the names of all parameters that are not part of keys for some provider."""
    return frozenset(name for row in unkeyed_table() for name in row.fields)


def keyed_params(model: str, params: Mapping[str, Json]) -> dict[str, Json]:
    """Return the parameters that are part of a key."""
    unkeyed = unkeyed_fields(model)
    return {name: value for name, value in params.items() if name not in unkeyed}


def verdict_identity(identity: str | None, about: About) -> str:
    """Return the identity in the request for a recorded verdict.

    A file of verdicts is looked up by case, rubric or metric, and order, and not by texts: two
    cases with the same texts may have different verdicts. Their names are not recorded.
    """
    place = digest_json([about.case, about.rubric, about.metric, about.order])
    return f"{identity or ''}:{place[:32]}"


def judge_identity(request: Request) -> str | None:
    """Return the identity of the judge of a request, without that of a recorded verdict."""
    if request.form.api != "recorded" or request.identity is None:
        return request.identity
    file, colon, _ = request.identity.rpartition(":")
    return (file or None) if colon else request.identity


def _with_all_params(request: Request) -> Request:
    if not request.unkeyed:
        return request
    params = {**request.params, **request.unkeyed}
    return _changed(request, {"params": params, "unkeyed": {}})


def _without_place(request: Request) -> Request:
    identity = judge_identity(request)
    return request if identity == request.identity else _changed(request, {"identity": identity})


def _changed(request: Request, fields: dict[str, Any]) -> Request:
    names = ("messages", "form", "model", "identity", "params", "sample", "mode", "unkeyed")
    kept = {name: getattr(request, name) for name in names}
    # A copy would keep the cached key of the newer form.
    return Request.model_construct(**{**kept, "about": request.about, **fields})


PARAMETERS = KeyRule(
    generation=2,
    name="parameters",
    words="parameters that cannot change a reply",
    older=_with_all_params,
)
KEY_RULES: tuple[KeyRule, ...] = (
    PARAMETERS,
    KeyRule(
        generation=3,
        name="recorded verdicts",
        words="recorded verdicts without their case",
        older=_without_place,
        shared=True,
    ),
)
"""All changes of keys, the oldest first."""


def newest_key(request: Request) -> str:
    """Return the present key of a request that an earlier generation recorded.

    It is the same for requests that differ only in parameters that cannot change a reply. The case
    of a recorded verdict is not in older requests, so these keep their key.
    """
    return _changed(request, {"params": keyed_params(request.model, request.params)}).key


def older_forms(request: Request) -> Iterator[OlderForm]:
    """Yield the older forms of a request, the newest first; most requests have none."""
    shared = False
    for rule in reversed(KEY_RULES):
        older = rule.older(request)
        if older is not request:
            request, shared = older, shared or rule.shared
            yield OlderForm(request, rule, shared)


def all_keys(request: Request) -> Iterator[str]:
    """Yield the key of a request, then the keys of its older forms."""
    yield request.key
    for form in older_forms(request):
        yield form.request.key
