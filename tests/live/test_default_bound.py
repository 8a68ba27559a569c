"""A small model is asked for short reasons; the key does not have that, and it may be refused."""

from __future__ import annotations

from typing import Any

import pytest

from .asking import judge_of
from .server import Fault, Server, error
from .test_ladder import ask

pytestmark = pytest.mark.loopback
BOUND = "'maxLength': 300"


def asked(server: Server, *, identity: str = "tiny-0.5b", **options: Any) -> Any:
    return ask(judge_of(server, identity=identity, timeout=60, **options))


def test_a_small_model_is_asked_for_short_reasons(server: Server) -> None:
    asked(server)

    assert BOUND in str(server.seen[-1].body)


def test_a_larger_model_has_no_bound(server: Server) -> None:
    asked(server, identity="large-70b")

    assert "maxLength" not in str(server.seen[-1].body)


def test_a_server_that_refuses_the_bound_is_asked_without_it_in_the_same_mode(
    server: Server,
) -> None:
    def no_bounds(body: dict[str, Any]) -> Fault | None:
        if BOUND in str(body):
            return error(400, "response_format: maxLength is not supported in the schema")
        return None

    server.rule = no_bounds

    reply = asked(server)

    assert reply.mode == "json_schema"
    assert [BOUND in str(seen.body) for seen in server.seen] == [True, False]
