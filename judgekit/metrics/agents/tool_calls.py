"""Tool calls: were the expected tools called, with the expected arguments, in order?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from judgekit.core.canonical import canonical_json
from judgekit.core.case import Case, ToolCall
from judgekit.core.errors import CaseError
from judgekit.core.score import Score
from judgekit.metrics.computed import ComputedMetric

Arguments = Literal["exact", "subset", "schema", "ignore"]
Extra = Literal["ignore", "count"]
EXPECTED = "tool_calls"
"""Key of `expected` with the calls."""
_NEEDS = ("history with tool calls, or metadata.tool_calls", "expected.tool_calls")
MAX_CALLS = 500
"""Maximum number of calls of one conversation; pairing takes quadratic time and a stack of this
depth."""


class ExpectedCall(NamedTuple):
    """A call that the agent should make."""

    name: str
    arguments: Any = None
    """`None` accepts any arguments."""
    schema: dict[str, Any] | None = None
    """JSON Schema of the arguments, for `arguments: schema`."""


def actual_calls(case: Case) -> tuple[ToolCall, ...]:
    """Return the tool calls of the conversation, oldest first, with those of the last message.

    Raises:
        CaseError: the assistant has no turn, a call is malformed, or there are too many calls.
    """
    turns = [m for m in (*case.history, *case.steps) if m.role == "assistant"]
    if not turns and case.output is None and "tool_calls" not in case.metadata:
        raise CaseError("needs a turn of the assistant (field 'output', or one in 'history')")
    calls = [call for message in turns for call in message.tool_calls]
    last = case.metadata.get("tool_calls", [])
    if not isinstance(last, list):
        raise CaseError("metadata.tool_calls is not a list of calls")
    for number, call in enumerate(last):
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            raise CaseError(f"metadata.tool_calls.{number} has no name")
        calls.append(ToolCall(name=call["name"], arguments=call.get("arguments")))
    if len(calls) > MAX_CALLS:
        message = f"{len(calls):,} tool calls are too many to compare (at most {MAX_CALLS:,})"
        raise CaseError(message)
    return tuple(calls)


def expected_calls(case: Case) -> tuple[ExpectedCall, ...]:
    """Return `expected.tool_calls`, a list of calls or names.

    Raises:
        CaseError: the list is missing, or an entry is not a call.
    """
    calls = case.expected.get(EXPECTED)
    if calls is None:
        raise CaseError(
            f"needs the expected calls (field 'expected.{EXPECTED}'); an empty list means that"
            " the agent should call no tool"
        )
    if not isinstance(calls, list) or len(calls) > MAX_CALLS:
        raise CaseError(f"expected.{EXPECTED} is not a list of at most {MAX_CALLS:,} calls")
    return tuple(_expected(call, f"expected.{EXPECTED}.{n}") for n, call in enumerate(calls))


def _expected(call: Any, where: str) -> ExpectedCall:
    if isinstance(call, str):
        return ExpectedCall(call)
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        raise CaseError(f"{where}: write a call as {{name: ..., arguments: {{...}}}}")
    unknown = set(call) - {"name", "arguments", "schema", "id"}
    if unknown:
        raise CaseError(f"{where}: unknown key {sorted(unknown)[0]!r}")
    schema = call.get("schema")
    if schema is not None and not isinstance(schema, dict):
        raise CaseError(f"{where}.schema is not a JSON Schema")
    return ExpectedCall(call["name"], call.get("arguments"), schema)


def is_match(
    expected: ExpectedCall,
    call: ToolCall,
    *,
    arguments: Arguments,
    as_json: Callable[[Any], str] = canonical_json,
) -> bool:
    """Return whether a call has the expected name and matching arguments.

    `exact`: equal; the order of keys does not matter. `subset`: every expected argument has the
    expected value, and other arguments are allowed; lists must be equal. `schema`: valid against
    the JSON Schema of the expected call. `ignore`: any. An expected call without arguments and
    schema accepts any.

    Raises:
        CaseError: the schema is invalid.
    """
    if expected.name != call.name:
        return False
    if arguments == "ignore":
        return True
    if arguments == "schema" and expected.schema is not None:
        return _is_valid(call.arguments, expected.schema)
    if expected.arguments is None:
        return True
    if arguments == "subset":
        return _contains(call.arguments, expected.arguments)
    # Compare as JSON: in Python 1 == True and 1 == 1.0, but for a tool these are different.
    return as_json(expected.arguments) == as_json(call.arguments)


def _contains(arguments: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return isinstance(arguments, dict) and all(
            key in arguments and _contains(arguments[key], value) for key, value in expected.items()
        )
    return canonical_json(arguments) == canonical_json(expected)


def _is_valid(arguments: Any, schema: dict[str, Any]) -> bool:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing.exceptions import Unresolvable

    where = f"expected.{EXPECTED}"
    try:
        Draft202012Validator.check_schema(schema)
        # Without a registry, a `$ref` to an address is an error and nothing is fetched.
        return bool(Draft202012Validator(schema).is_valid(arguments))
    except SchemaError as exc:
        raise CaseError(f"{where}: invalid JSON Schema: {exc.message}") from exc
    except (Unresolvable, RecursionError) as exc:
        raise CaseError(f"{where}: the schema has a $ref that it does not define") from exc


def pair_up(
    expected: Sequence[ExpectedCall],
    calls: Sequence[ToolCall],
    match: Callable[[ExpectedCall, ToolCall], bool],
) -> dict[int, int]:
    """Return a maximum matching: index of an expected call -> index of its actual call.

    Each call is used once. The matching grows by augmenting paths: a call that matches several
    expected calls goes to the one that has no other match.
    """
    candidates = [[n for n, call in enumerate(calls) if match(want, call)] for want in expected]
    assigned: dict[int, int] = {}

    def assign(index: int, tried: set[int]) -> bool:
        free = next((number for number in candidates[index] if number not in assigned), None)
        if free is not None:
            assigned[free] = index
            return True
        for number in candidates[index]:
            if number not in tried:
                tried.add(number)
                if assign(assigned[number], tried):
                    assigned[number] = index
                    return True
        return False

    for index in range(len(expected)):
        assign(index, set())
    return {index: number for number, index in sorted(assigned.items(), key=lambda pair: pair[1])}


class CallComparison(NamedTuple):
    """How the calls of a conversation match the expected ones."""

    matched: int
    missing: list[str]
    """Expected calls that were not made, as text."""
    unexpected: list[str]
    """Calls that were not expected, as text."""


def _matcher(arguments: Arguments) -> Callable[[ExpectedCall, ToolCall], bool]:
    """Return `is_match` for many pairs of calls; arguments are written as JSON once."""
    texts: dict[int, str] = {}

    def text(value: Any) -> str:
        if (known := texts.get(id(value))) is None:
            known = texts[id(value)] = canonical_json(value)
        return known

    return partial(is_match, arguments=arguments, as_json=text)


def compare_calls(
    expected: Sequence[ExpectedCall], calls: Sequence[ToolCall], *, arguments: Arguments
) -> CallComparison:
    """Pair calls with expected ones in any order, and list those without a partner."""
    pairs = pair_up(expected, calls, _matcher(arguments))
    used = set(pairs.values())
    return CallComparison(
        len(pairs),
        [call_text(call) for n, call in enumerate(expected) if n not in pairs],
        [call_text(call) for n, call in enumerate(calls) if n not in used],
    )


class ToolCallCorrectness(ComputedMetric):
    """Share of the expected tool calls that the agent made. Range 0..1, higher is better.

    Each actual call matches at most one expected call. The order does not matter; use
    `trajectory_match` to check it. An empty list of expected calls means that the agent should call
    no tool: the value is 1 if it called none, else 0. `details.unexpected` lists the unexpected
    calls. With `extra: count` they lower the value.
    """

    name: str = "tool_call_correctness"
    arguments: Arguments = "exact"
    """How arguments are compared: exact, subset (others are allowed), schema (a JSON Schema) or
    ignore."""
    extra: Extra = "ignore"
    """`ignore` divides by the number of expected calls. `count` divides by the number of expected
    or actual calls, whichever is larger."""

    needs = _NEEDS

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the expected calls are missing or wrong.
        """
        expected, calls = expected_calls(case), actual_calls(case)
        matched, missing, unexpected = compare_calls(expected, calls, arguments=self.arguments)
        total = max(len(expected), len(calls)) if self.extra == "count" else len(expected)
        value = matched / total if total else float(not calls)
        return Score(
            value=value,
            method=f"tool calls by name and arguments ({self.arguments})",
            reason=_reason(matched, len(expected), missing, unexpected),
            ground_truth=[call_text(call) for call in expected],
            details={
                "matched": matched,
                "missing": [*missing],
                "unexpected": [*unexpected],
                "made": [call_text(call) for call in calls],
            },
        )


def _reason(matched: int, expected: int, missing: Sequence[str], unexpected: Sequence[str]) -> str:
    if not expected:
        return f"No call was expected and {len(unexpected) or 'none'} was made."
    reason = f"{matched} of {expected} expected calls were made"
    reason += f"; missing: {missing[0]}" if missing else ""
    reason += f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return f"{reason}; not expected: {unexpected[0]}." if unexpected else f"{reason}."


def call_text(call: ExpectedCall | ToolCall) -> str:
    """Return a call as `name(arguments)`; long arguments are cut."""
    arguments = call.arguments
    if arguments is None and isinstance(call, ExpectedCall):
        arguments = call.schema
    text = "" if arguments is None else canonical_json(arguments)
    return f"{call.name}({text if len(text) <= 200 else text[:199] + '…'})"


Order = Literal["strict", "unordered", "subset", "superset"]


class TrajectoryMatch(ComputedMetric):
    """1 if the tool calls of a conversation match the expected ones, else 0. Higher is better.

    `strict` requires the same calls in the same order, `unordered` the same calls in any order.
    `subset` allows no unexpected call. `superset` requires every expected call and allows others.
    Each actual call matches at most one expected call. An empty list of expected calls means a
    trajectory without tool calls.
    """

    name: str = "trajectory_match"
    match: Order = "strict"
    """How trajectories are compared: strict, unordered, subset or superset."""
    arguments: Arguments = "exact"
    """How arguments are compared: exact, subset, schema or ignore."""

    needs = _NEEDS

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the expected calls are missing or wrong.
        """
        expected, calls = expected_calls(case), actual_calls(case)
        problem = self._problem(expected, calls)
        return Score(
            value=1.0 if problem is None else 0.0,
            method=f"{self.match} trajectory match, arguments {self.arguments}",
            reason=problem or f"The {len(calls)} calls match the trajectory.",
            ground_truth=[call_text(call) for call in expected],
            details={"made": [call_text(call) for call in calls]},
        )

    def _problem(self, expected: Sequence[ExpectedCall], calls: Sequence[ToolCall]) -> str | None:
        """Return the first difference from the expected calls, or `None`."""
        if self.match == "strict":
            for number, (want, call) in enumerate(zip(expected, calls, strict=False), start=1):
                if not is_match(want, call, arguments=self.arguments):
                    made, wanted = call_text(call), call_text(want)
                    return f"Call {number} is {made} where {wanted} is expected."
            count = len(expected)
            if len(calls) > count:
                return f"Call {count + 1}, {call_text(calls[count])}, is not expected."
            if len(calls) < count:
                return f"It ends before {call_text(expected[len(calls)])}."
            return None
        _, missing, unexpected = compare_calls(expected, calls, arguments=self.arguments)
        if missing and self.match != "subset":
            return f"{missing[0]} is expected and not called."
        if unexpected and self.match != "superset":
            return f"{unexpected[0]} is called and not expected."
        return None
