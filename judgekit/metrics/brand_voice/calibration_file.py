"""Calibration files of Alignmenter: `.traits.json`, with bounds, weights and trained traits."""

from __future__ import annotations

from pathlib import Path

from judgekit.core.errors import ConfigError
from judgekit.core.input_file import read_bytes
from judgekit.metrics.brand_voice.alignmenter import AlignmenterCalibration, read_calibration

MAX_FILE = 1_000_000
"""Bytes a calibration file may have."""


def calibration_of(source: object) -> AlignmenterCalibration:
    """Return the calibration that an option gives: a file, or what is in it.

    Raises:
        ConfigError: it cannot be read, or something in it is wrong.
    """
    if source is None or isinstance(source, AlignmenterCalibration):
        return source or AlignmenterCalibration()
    if not isinstance(source, (str, Path)):
        return read_calibration(source)
    from judgekit.datasets.json_text import json_fault, parse_json  # most runs have none

    path = Path(source)
    try:
        data = read_bytes(path, most=MAX_FILE)
    except OSError as exc:
        raise ConfigError(f"cannot be read: {exc.strerror}", where=str(path)) from exc
    try:
        return read_calibration(parse_json(data))
    except ConfigError as exc:
        raise ConfigError(str(exc), where=str(path)) from exc
    except ValueError as exc:
        raise ConfigError(f"not JSON: {json_fault(exc, data).what}", where=str(path)) from exc
