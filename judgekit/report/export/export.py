"""The export formats of a run, and parsing of `--export FORMAT=FILE`.

This module has the formats with rows or figures; `junit` and `markdown` have their own modules.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.core.errors import ConfigError, MissingExtra
from judgekit.core.output_file import refuse_foreign
from judgekit.core.suggest import suggest
from judgekit.report.export import junit, markdown
from judgekit.report.export.target import named, written
from judgekit.report.table import EXPORTED, exported_rows
from judgekit.report.text import report_json

if TYPE_CHECKING:
    from judgekit.report.report import Report

# Characters that begin a formula in a spreadsheet, including full-width forms.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
GUARD = "'"
"""Prefix of a text that a spreadsheet would run as a formula."""
ROWS = 4096
"""Maximum number of rows of a row group, which is kept in memory."""


def write_csv(report: Report, path: Path) -> None:
    """Write a run as CSV with a row per case and metric, in constant memory.

    Raises:
        ConfigError: the file cannot be written, or the results cannot be read.
    """
    with written(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(EXPORTED)
        for entry in exported_rows(report):
            lines.writerow([_cell(entry.get(name)) for name in EXPORTED])
        text.flush()
        text.detach()


def _cell(value: Any) -> str:
    """Return a cell; a text cannot become a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    return guarded(named(str(value)))


def guarded(text: str) -> str:
    """Return a text, after an apostrophe if a spreadsheet would run it as a formula.

    >>> guarded("=1+1"), guarded("1+1")
    ("'=1+1", '1+1')
    """
    # Some spreadsheets ignore leading white space.
    return GUARD + text if text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text


def write_parquet(report: Report, path: Path) -> None:
    """Write a run as Parquet with a row per case and metric, one row group at a time.

    Raises:
        ConfigError: the file cannot be written, or the results cannot be read.
    """
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    types = {"text": pyarrow.string(), "number": pyarrow.float64(), "yes_no": pyarrow.bool_()}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in EXPORTED.items()])
    try:
        with written(path) as file, ParquetWriter(file, schema) as out:
            rows = exported_rows(report)
            while group := list(islice(_whole(rows), ROWS)):
                out.write_table(pyarrow.Table.from_pylist(group, schema=schema))
    except pyarrow.ArrowException as exc:
        raise ConfigError(f"cannot be written: {exc}", where=str(path)) from exc


def _whole(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield rows with lone surrogates in texts replaced."""
    for row in rows:
        yield {
            name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
            for name, value in row.items()
        }


def write_json(report: Report, path: Path) -> None:
    """Write the report of a run as JSON.

    Raises:
        ConfigError: the file cannot be written.
    """
    with written(path) as file:
        file.write(f"{report_json(report)}\n".encode("utf-8", "replace"))


class Format(NamedTuple):
    """A format of `--export`."""

    begin: bytes
    """The first bytes of its files; only such files are replaced."""
    write: Callable[[Report, Path], None]


FORMATS: Mapping[str, Format] = {
    # One test per case and metric, as CI servers read it.
    "junit": Format(b"<?xml", junit.write),
    # Outcome, figures, and the rows to look at.
    "markdown": Format(b"## ", markdown.write),
    # One row per case and metric, safe in a spreadsheet.
    "csv": Format(b"case,metric,", write_csv),
    # The same rows; needs the parquet extra.
    "parquet": Format(b"PAR1", write_parquet),
    # Figures and gates, as --json prints them.
    "json": Format(b'{\n "cases"', write_json),
}
"""Name of a format -> its writer."""


class Export(NamedTuple):
    """A format and the path of its file."""

    format: str
    path: Path


def parse_exports(texts: Iterable[str]) -> list[Export]:
    """Parse `FORMAT=FILE` options; errors are reported before the run.

    Raises:
        ConfigError: the format is unknown, the file is missing, or a file is named twice.
        MissingExtra: what a format needs is not installed.
    """
    exports: list[Export] = []
    for text in texts:
        format, equals, file = text.partition("=")
        if not equals or not file:
            raise ConfigError(f"--export {text}: write it as FORMAT=FILE, such as junit=junit.xml")
        one = Export(format, Path(file))
        check(one)
        if one.path in [other.path for other in exports]:
            raise ConfigError(f"--export {text}: {file} is written twice")
        exports.append(one)
    return exports


def check(one: Export) -> None:
    """Check that an export can be written.

    Raises:
        ConfigError: the format is unknown, or the file is a folder, a link, or a foreign file.
        MissingExtra: what the format needs is not installed.
    """
    if one.format not in FORMATS:
        raise ConfigError(f"no export named {one.format!r}{suggest(one.format, list(FORMATS))}")
    if one.path.is_dir():
        raise ConfigError("is a folder; name a file", where=str(one.path))
    begin = FORMATS[one.format].begin
    refuse_foreign(one.path, lambda head: head.startswith(begin), what=f"{one.format} of a run")
    if one.format == "parquet":
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError as exc:
            raise MissingExtra(feature="writing Parquet", extra="parquet") from exc


def export(report: Report, format: str, path: Path) -> Path:
    """Write a run in a format and return the path.

    Raises:
        ConfigError: no such format, or the file cannot be written.
        MissingExtra: what the format needs is not installed.
    """
    check(Export(format, path))
    FORMATS[format].write(report, path)
    return path


def export_all(report: Report, exports: Iterable[Export]) -> list[Export]:
    """Write a run in several formats; an error is raised after all others are written.

    Returns:
        The written exports.

    Raises:
        ConfigError: with the exports that could not be written.
    """
    faults = []
    done = []
    for one in exports:
        try:
            export(report, one.format, one.path)
        except ConfigError as exc:
            faults.append(str(exc))
        else:
            done.append(one)
    if faults:
        raise ConfigError("; ".join(faults))
    return done
