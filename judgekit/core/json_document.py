"""The JSON that commands print: one object, which says what it is."""

import json
from collections.abc import Mapping
from typing import Any

VERSION = 1


def json_document(kind: str, data: Mapping[str, Any]) -> str:
    """Return the text of a JSON object for standard output or a file, without a line end.

    Its first keys are `judgekit`, the kind of the object, and `version`, the version of its form;
    the others are sorted. A program that reads it needs no other knowledge of the command.

    Args:
        kind: what it is, such as `run`; `docs/json.md` lists all.
        data: JSON values; its `version` replaces 1. Numbers that JSON lacks, NaN and the
            infinities, become null.

    Example:
        >>> print(json_document("record", {"seconds": float("inf"), "key": "a1"}))
        {
         "judgekit": "record",
         "version": 1,
         "key": "a1",
         "seconds": null
        }
    """
    # `dumps` can refuse NaN but not replace it; reading the text back can.
    plain = json.loads(json.dumps(data, sort_keys=True), parse_constant=lambda _: None)
    head = {"judgekit": kind, "version": plain.get("version", VERSION)}
    return json.dumps({**head, **plain, **head}, ensure_ascii=False, indent=1)
