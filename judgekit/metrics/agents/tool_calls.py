"""Tool-call correctness: were the expected tools called, with the expected arguments?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from judgekit.core.canonical import canonical_json
from judgekit.core.case import Case, ToolCall
from judgekit.core.errors import CaseError
from judgekit.core.protocols import Metric
from judgekit.core.score import Score
from judgekit.metrics._options import check_choice, check_name

Arguments = Literal["exact", "subset", "schema", "ignore"]
Extra = Literal["ignore", "count"]
EXPECTED = "tool_calls"
"""Key of `expected` that holds the calls."""
MAX_CALLS = 500
"""Calls of one conversation; pairing them takes their number squared, and as deep a stack."""


class ExpectedCall(NamedTuple):
    """A call that should be made."""

    name: str
    arguments: Any
    """`None` where any will do."""
    schema: dict[str, Any] | None
    """JSON Schema the arguments must be valid under, for `arguments: schema`."""


def calls_made(case: Case) -> tuple[ToolCall, ...]:
    """Return the tool calls of the conversation, oldest first, the last message's among them.

    Raises:
        CaseError: the assistant never took a turn, or a call of the last message is malformed.
    """
    spoke = any(message.role == "assistant" for message in case.history)
    if not spoke and case.output is None and "tool_calls" not in case.metadata:
        raise CaseError("needs a turn of the assistant (field 'output', or one in 'history')")
    made = [
        call
        for message in case.history
        if message.role == "assistant"
        for call in message.tool_calls
    ]
    last = case.metadata.get("tool_calls", [])
    if not isinstance(last, list):
        raise CaseError("metadata.tool_calls is not a list of calls")
    for number, call in enumerate(last):
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            raise CaseError(f"metadata.tool_calls.{number} has no name")
        made.append(ToolCall(name=call["name"], arguments=call.get("arguments")))
    if len(made) > MAX_CALLS:
        raise CaseError(f"{len(made):,} tool calls are too many to compare (at most {MAX_CALLS:,})")
    return tuple(made)


def calls_expected(case: Case) -> tuple[ExpectedCall, ...]:
    """Return the calls that should be made: `expected.tool_calls`, a list of calls or names.

    Raises:
        CaseError: there is no such list, or something in it is no call.
    """
    listed = case.expected.get(EXPECTED)
    if listed is None:
        raise CaseError(
            f"needs the calls that should be made (field 'expected.{EXPECTED}'); an empty list"
            " says that none should"
        )
    if not isinstance(listed, list) or len(listed) > MAX_CALLS:
        raise CaseError(f"expected.{EXPECTED} is not a list of at most {MAX_CALLS:,} calls")
    return tuple(_expected(call, number) for number, call in enumerate(listed))


def _expected(call: Any, number: int) -> ExpectedCall:
    where = f"expected.{EXPECTED}.{number}"
    if isinstance(call, str):
        return ExpectedCall(call, None, None)
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        raise CaseError(f"{where}: write a call as {{name: ..., arguments: {{...}}}}")
    unknown = set(call) - {"name", "arguments", "schema", "id"}
    if unknown:
        raise CaseError(f"{where}: unknown key {sorted(unknown)[0]!r}")
    schema = call.get("schema")
    if schema is not None and not isinstance(schema, dict):
        raise CaseError(f"{where}.schema is not a JSON Schema")
    return ExpectedCall(call["name"], call.get("arguments"), schema)


def fits(wanted: ExpectedCall, made: ToolCall, *, arguments: Arguments) -> bool:
    """Return whether a call is the one wanted: the same name, and arguments that match.

    `exact`: equal, whatever the order of keys. `subset`: every wanted argument is there with the
    wanted value, and others may be beside it; inside lists everything counts. `schema`: valid
    under the wanted call's JSON Schema. `ignore`: any. Where a wanted call gives neither
    arguments nor a schema, any will do.

    Raises:
        CaseError: the schema is none.
    """
    if wanted.name != made.name:
        return False
    if arguments == "ignore":
        return True
    if arguments == "schema" and wanted.schema is not None:
        return _valid(made.arguments, wanted.schema)
    if wanted.arguments is None:
        return True
    if arguments == "subset":
        return _within(wanted.arguments, made.arguments)
    return _same(wanted.arguments, made.arguments)


def _same(one: Any, other: Any) -> bool:
    # As JSON: to Python 1 == True and 1 == 1.0, to a tool they are other arguments.
    return canonical_json(one) == canonical_json(other)


def _within(wanted: Any, made: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(made, dict) and all(
            key in made and _within(value, made[key]) for key, value in wanted.items()
        )
    return _same(wanted, made)


def _valid(arguments: Any, schema: dict[str, Any]) -> bool:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing.exceptions import Unresolvable

    try:
        Draft202012Validator.check_schema(schema)
        # No registry is given, so that a `$ref` to an address is an error and nothing is fetched.
        return bool(Draft202012Validator(schema).is_valid(arguments))
    except SchemaError as exc:
        raise CaseError(f"expected.{EXPECTED}: no JSON Schema: {exc.message}") from exc
    except (Unresolvable, RecursionError) as exc:
        raise CaseError(f"expected.{EXPECTED}: the schema refers to what is not in it") from exc


def pair_up(
    wanted: Sequence[ExpectedCall],
    made: Sequence[ToolCall],
    fit: Callable[[ExpectedCall, ToolCall], bool],
) -> dict[int, int]:
    """Return the largest pairing of wanted with made calls, each used once, as places.

    By augmenting paths, so that a call that fits several wanted ones goes where it is needed.
    """
    options = [[n for n, call in enumerate(made) if fit(want, call)] for want in wanted]
    taken: dict[int, int] = {}

    def place(at: int, tried: set[int]) -> bool:
        free = next((option for option in options[at] if option not in taken), None)
        if free is not None:
            taken[free] = at
            return True
        for option in options[at]:
            if option not in tried:
                tried.add(option)
                if place(taken[option], tried):
                    taken[option] = at
                    return True
        return False

    for at in range(len(wanted)):
        place(at, set())
    return {want: call for call, want in sorted(taken.items(), key=lambda pair: pair[1])}


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCallCorrectness(Metric):
    """Share of the expected tool calls that were made; 0..1, higher is better.

    Each call made counts for one expected call at most, and their order does not matter
    (`trajectory_match` minds it). An empty list of expected calls says that no tool should be
    called: 1 if none was, else 0. Calls nobody expected are listed in the details; with
    `extra: count` they lower the value.
    """

    name: str = "tool_call_correctness"
    arguments: Arguments = "exact"
    """How arguments are compared: exact, subset, schema or ignore (see `fits`)."""
    extra: Extra = "ignore"
    """`count`: the share is of the expected or the made calls, whichever are more."""

    needs = (
        "history with tool calls, or metadata.tool_calls",
        "expected.tool_calls",
    )

    def __post_init__(self) -> None:
        check_name("tool_call_correctness", self.name)
        check_choice(self.name, "arguments", self.arguments, Arguments)
        check_choice(self.name, "extra", self.extra, Extra)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the expected calls are missing or wrong.
        """
        wanted, made = calls_expected(case), calls_made(case)
        pairs = pair_up(wanted, made, lambda w, m: fits(w, m, arguments=self.arguments))
        missing = [shown(w) for n, w in enumerate(wanted) if n not in pairs]
        unexpected = [shown(m) for n, m in enumerate(made) if n not in pairs.values()]
        of = max(len(wanted), len(made)) if self.extra == "count" else len(wanted)
        value = len(pairs) / of if of else 1.0
        if not wanted and self.extra == "ignore":
            value = 0.0 if made else 1.0
        return Score(
            value=value,
            method=f"tool calls by name and arguments ({self.arguments})",
            reason=_reason(len(pairs), len(wanted), missing, unexpected),
            ground_truth=[shown(call) for call in wanted],
            details={
                "matched": len(pairs),
                "missing": list(missing),
                "unexpected": list(unexpected),
                "made": [shown(call) for call in made],
            },
        )


def _reason(matched: int, expected: int, missing: Sequence[str], unexpected: Sequence[str]) -> str:
    if not expected:
        return f"No call was expected and {len(unexpected) or 'none'} was made."
    said = f"{matched} of {expected} expected calls were made"
    said += f"; missing: {missing[0]}" if missing else ""
    said += f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return f"{said}; not expected: {unexpected[0]}." if unexpected else f"{said}."


def shown(call: ExpectedCall | ToolCall) -> str:
    """Return a call as people write it: name and arguments."""
    given = call.arguments
    if given is None and isinstance(call, ExpectedCall):
        given = call.schema
    text = "" if given is None else canonical_json(given)
    return f"{call.name}({text if len(text) <= 200 else text[:199] + '…'})"
