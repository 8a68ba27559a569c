"""The data of the page of a comparison: every case, and its results in each run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from typing import Any, NamedTuple

from judgekit.core.case import Case
from judgekit.core.case_field import CASE_FIELDS
from judgekit.core.score import Failure, Part, Result
from judgekit.metrics.criteria.texts import parts_by_text
from judgekit.pages.comparison.cases import ORDER, CaseChange, ComparedCases
from judgekit.pages.comparison.textdiff import text_diff
from judgekit.pages.packing import (
    Packed,
    Texts,
    case_fields,
    first_line,
    pack,
    page_json,
    shortened,
    with_cases,
)
from judgekit.report.folder import Scored
from judgekit.report.manifest import dicts_in
from judgekit.report.report import Report

ALL = 2_000
"""Maximum number of cases for which unchanged cases also keep their texts."""
MOST = 16_000_000
"""Maximum length of all texts, regressions first: less than 10 MB when compressed."""
MOST_CASES = 20_000
"""Maximum number of cases that the page lists."""
MOST_PACKED = 8_500_000
"""Maximum size of the data of a page that does not list all cases, in bytes."""
_VALUE = 400
"""Maximum length of a metadata value on such a page, in characters."""

_CONVERSATION = {field.name for field in CASE_FIELDS if field.compared}
WORST = 3
"""Maximum number of regressions that are also shown without the script."""
_LINE = 200


class ComparisonPayload(NamedTuple):
    """The data of a page, and the cases that keep their texts."""

    packed: Packed
    cases: int
    """Number of cases of the runs."""
    listed: int
    kept: int
    """Number of listed cases with their texts."""
    worst: list[list[str]]
    """For each new run, the cases that got worse, the largest change first."""
    scored: dict[str, list[Scored | None]]
    """The results of every run for those cases."""
    counts: list[Counter[str]]
    """For each new run: kind of change -> number of cases."""


def make_payload(
    lines: ComparedCases,
    *,
    names: Sequence[str],
    pages: Sequence[str] = (),
    most: int = MOST_CASES,
) -> ComparisonPayload:
    """Return the data of a comparison for its page.

    Args:
        lines: what the runs hold.
        names: of the runs, the base first.
        pages: where the pages of the runs are, if they are served.
        most: maximum number of cases to list.
    """
    moves = lines.moves()
    ranks = [_ranks(one) for one in moves]
    left = MOST
    while True:
        listed = _listed(lines, ranks, most)
        payload = _payload(lines, moves, ranks, listed, left=left, names=names, pages=pages)
        if len(payload.packed.text) <= MOST_PACKED or len(listed) == len(lines.ids) or most < 2:
            return payload
        most, left = most // 2, left // 2


def _listed(lines: ComparedCases, ranks: Sequence[Mapping[str, int]], most: int) -> Collection[str]:
    """Return the cases to list: all, or those that changed most in any of the runs."""
    if len(lines.ids) <= most:
        return lines.ids
    changed_most = nsmallest(most, lines.ids, key=lambda id: min(r[id] for r in ranks if id in r))
    return dict.fromkeys(changed_most)  # a set of texts has another order in each process


def _payload(
    lines: ComparedCases,
    moves: Sequence[Mapping[str, CaseChange]],
    ranks: Sequence[Mapping[str, int]],
    listed: Collection[str],
    *,
    left: int,
    names: Sequence[str],
    pages: Sequence[str],
) -> ComparisonPayload:
    with_texts = _cases_with_texts(lines, moves, ranks, listed, left=left)
    texts = Texts()
    worst = [
        list(islice((id for id in rank if one[id].fate == "worse" and id in with_texts), WORST))
        for one, rank in zip(moves, ranks, strict=True)
    ]
    scored: dict[str, list[Scored | None]] = {
        id: [None] * len(lines.runs) for ids in worst for id in ids
    }
    whole = len(listed) == len(lines.ids)
    details = _details(lines.runs, with_texts, texts, scored, listed=None if whole else listed)
    shared = list(dict.fromkeys(name for metrics in lines.compared for name in metrics))
    cases = []
    base, *others = lines.lines
    for id in lines.ids:
        if id not in details:
            continue
        data = {
            **details.pop(id),
            "v": [
                [one[id].cells.get(name) for name in shared] if id in one else None
                for one in lines.lines
            ],
            "fate": [one[id].fate if id in one else None for one in moves],
            "rank": [one.get(id, len(lines.ids)) for one in ranks],
            "same": [
                one[id].answer == base[id].answer if id in one and id in base else None
                for one in others
            ],
        }
        left_out = [lines.left_out(id, number) for number in range(1, len(lines.runs))]
        if any(left_out):  # by new run: places of the metrics
            data["left_out"] = [[shared.index(name) for name in one] for one in left_out]
        cases.append(page_json(data))
    head: dict[str, Any] = {
        "metrics": [_metric(lines, name) for name in shared],
        "runs": list(names),
        "pages": list(pages),
        "fields": lines.fields,
        "case_fields": case_fields(_CONVERSATION),
        "texts": texts.all,
    }
    if not whole:
        head["of"] = len(lines.ids)
    packed = pack(with_cases(head, cases))
    counts = [Counter(str(move.fate) for move in one.values()) for one in moves]
    return ComparisonPayload(
        packed, len(lines.ids), len(cases), len(with_texts), worst, scored, counts
    )


def _metric(lines: ComparedCases, name: str) -> dict[str, Any]:
    summary = lines.summaries[name]
    return {
        "name": name,
        "range": summary.range,
        "higher": summary.higher_is_better,
        "scale": summary.scale,
        # By new run: the thresholds of base and run, and whether they are comparable.
        "thresholds": [one.get(name) for one in lines.thresholds],
        "compared": [name in names for names in lines.compared],
    }


def _ranks(moves: Mapping[str, CaseChange]) -> dict[str, int]:
    """Return the positions of cases in display order: regressions first, the largest first."""

    def place(item: tuple[str, CaseChange]) -> tuple[int, float]:
        move = item[1]
        return ORDER.index(move.fate), -abs(round(move.step, 9))

    return {id: number for number, (id, _) in enumerate(sorted(moves.items(), key=place))}


def _cases_with_texts(
    lines: ComparedCases,
    moves: Sequence[Mapping[str, CaseChange]],
    ranks: Sequence[Mapping[str, int]],
    listed: Collection[str],
    *,
    left: int,
) -> frozenset[str]:
    """Return the listed cases that keep their texts, of a length of up to `left` together."""
    few = len(lines.ids) <= ALL
    candidates = [
        id for id in listed if few or any(one[id].fate != "same" for one in moves if id in one)
    ]
    candidates.sort(key=lambda id: min(one[id] for one in ranks if id in one))
    chosen = set()
    for id in candidates:
        size = sum(one[id].size for one in lines.lines if id in one)
        if size <= left:  # a case that is too long does not affect later ones
            left -= size
            chosen.add(id)
    return frozenset(chosen)


# -- texts --------------------------------------------------------------------------


def _details(
    runs: Sequence[Report],
    with_texts: frozenset[str],
    texts: Texts,
    scored_of: Mapping[str, list[Scored | None]],
    *,
    listed: Collection[str] | None,
) -> dict[str, dict[str, Any]]:
    """Return the texts of every listed case; for cases without kept texts, only the first line.

    Args:
        runs: the runs.
        with_texts: the cases that keep their texts.
        texts: the texts that cases share.
        scored_of: gets the results of some cases.
        listed: the listed cases; `None` for all.
    """
    details: dict[str, dict[str, Any]] = {}
    bases: dict[str, Case] = {}
    for number, run in enumerate(runs):
        for scored in run.results:
            case = scored.case
            if listed is not None and case.id not in listed:
                continue
            data = details.setdefault(case.id, {"id": case.id})
            if len(data) == 1:  # the first run that has it
                metadata = case.model_dump(mode="json", include={"metadata"})["metadata"]
                data["metadata"] = metadata if listed is None else shortened(metadata, _VALUE)[0]
                data["line"] = first_line(case)[:_LINE]
            if case.id not in with_texts:
                continue
            if case.id in scored_of:
                scored_of[case.id][number] = scored
            if case.steps:
                steps = case.model_dump(mode="json", include={"steps"}, exclude_defaults=True)
                data.setdefault("steps", [None] * len(runs))[number] = steps["steps"]
            results = {row.metric: _result(row.result) for row in scored.rows}
            data.setdefault("said", [None] * len(runs))[number] = results
            first = bases.setdefault(case.id, case)
            if first is case:
                data["asked"] = texts.case(case, _CONVERSATION)
                data["from"] = number
                data["out"] = case.output
            else:
                data |= _against(first, case, data, texts, number)
    return details


def _against(
    first: Case, case: Case, data: Mapping[str, Any], texts: Texts, number: int
) -> dict[str, Any]:
    """Return how a case of a new run differs: its answer as a script of edits, and its question."""
    conversation, asked = texts.case(case, _CONVERSATION), data["asked"]
    names = [name for name in sorted(_CONVERSATION) if conversation.get(name) != asked.get(name)]
    same = case.output == first.output
    more = {
        "edits": None if same else script(first.output or "", case.output or ""),
        "other": {name: conversation.get(name) for name in names} or None,
    }
    return {key: {**data.get(key, {}), number: new} for key, new in more.items() if new is not None}


def script(before: str, after: str) -> list[int | str]:
    """Return an edit script: units to keep, units to delete (negative), text to insert.

    Units are UTF-16 code units, as in browsers.

    >>> script("Sent on Monday.", "Sent on a Monday, late.")
    [8, 'a ', 6, ', late', 1]
    """
    edits: list[int | str] = []
    for piece in text_diff(before, after):
        units = len(piece.text.encode("utf-16-le", "surrogatepass")) // 2
        edits.append(piece.text if piece.sign == "+" else units if piece.sign == "=" else -units)
    return edits


def _result(result: Result) -> dict[str, Any]:
    if isinstance(result, Failure):
        return {"kind": result.kind, "reason": result.message}
    data: dict[str, Any] = {"reason": result.reason}
    if result.fallback is not None:
        data["fallback"] = result.fallback.model_dump(mode="json")
    if result.parts:
        data["parts"] = [
            {
                "id": part.id,
                "status": part.status,
                "value": part.value,
                "answer": part.answer if isinstance(part.answer, str | bool) else None,
                "reason": reason_of(part),
            }
            for part in parts_by_text(result).values()
        ]
    return data


def reason_of(part: Part) -> str:
    """Return the reason for a criterion's value; a checklist has items instead of a reason."""
    if part.reason or not part.items:
        return part.reason
    lines = []
    for word, met in (("not met", False), ("met", True)):
        items = [str(item.get("item", "")) for item in dicts_in(list(part.items))
                 if item.get("met") is met]  # fmt: skip
        lines += [f"{word}: {'; '.join(items)}"] if items else []
    return "\n".join(lines)
