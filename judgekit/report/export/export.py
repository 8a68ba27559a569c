"""The export formats of a run, and parsing of `--export FORMAT=FILE`.

This module has `parquet` and `json`; the other formats have their own modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.core.errors import ConfigError, needs_extra
from judgekit.core.input_file import home_path
from judgekit.core.output_file import refuse_foreign
from judgekit.core.suggest import suggest
from judgekit.core.synonyms import synonym
from judgekit.report.export import junit, markdown, spreadsheet
from judgekit.report.export.target import written
from judgekit.report.table import EXPORTED, exported_rows
from judgekit.report.text import report_json

if TYPE_CHECKING:
    from judgekit.report.report import Report

ROWS = 4096
"""Maximum number of rows of a row group, which is kept in memory."""


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

    ours: Callable[[bytes, Path], bool]
    """Whether an existing file, by its first bytes and its path, is one of this format. Other files
    are kept."""
    write: Callable[[Report, Path], None]


def _begins(*texts: bytes) -> Callable[[bytes, Path], bool]:
    return lambda head, _: head.startswith(texts)


FORMATS: Mapping[str, Format] = {
    # One test per case and metric, as CI servers read it.
    "junit": Format(_begins(b"<?xml"), junit.write),
    # Outcome, figures, and the rows to look at.
    "markdown": Format(_begins(b"## "), markdown.write),
    # One row per case, safe in a spreadsheet.
    "csv": Format(spreadsheet.is_our_csv, spreadsheet.write_csv),
    # The same rows and the figures; needs the excel extra.
    "excel": Format(spreadsheet.is_our_workbook, spreadsheet.write_excel),
    # One row per case and metric.
    "csv-long": Format(spreadsheet.is_our_csv, spreadsheet.write_long_csv),
    # The same rows; needs the parquet extra.
    "parquet": Format(_begins(b"PAR1"), write_parquet),
    # Figures and gates, as --json prints them.
    "json": Format(_begins(b'{\n "judgekit": "run"', b'{\n "cases"'), write_json),
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
            raise ConfigError(f"--export {text}: write it as FORMAT=FILE, such as {_example(text)}")
        if file == "-":
            advice = "name a file, or print JSON with --json"
            raise ConfigError(f"--export {text}: exports are files; {advice}")
        one = Export(format, home_path(file))
        check(one)
        if one.path in [other.path for other in exports]:
            raise ConfigError(f"--export {text}: {file} is written twice")
        exports.append(one)
    return exports


_ENDINGS = {".xlsx": "excel", ".md": "markdown", ".parquet": "parquet", ".json": "json",
            ".csv": "csv"}  # fmt: skip


def _example(text: str) -> str:
    """Return an export for a text that lacks the format or the file.

    >>> _example("out.csv"), _example("csv"), _example("x")
    ('csv=out.csv', 'csv=run.csv', 'junit=junit.xml')
    """
    formats = {format: ending for ending, format in _ENDINGS.items()}
    if format := _ENDINGS.get(Path(text).suffix.lower()):
        return f"{format}={text}"
    return f"{text}=run{formats[text]}" if text in formats else "junit=junit.xml"


def check(one: Export) -> None:
    """Check that an export can be written.

    Raises:
        ConfigError: the format is unknown, or the file is a folder, a link, or a foreign file.
        MissingExtra: what the format needs is not installed.
    """
    if one.format not in FORMATS:
        hint = synonym("export", one.format, FORMATS) or suggest(one.format, list(FORMATS))
        raise ConfigError(f"no export named {one.format!r}{hint}")
    if one.path.is_dir():
        raise ConfigError("is a folder; name a file", where=str(one.path))
    ours = FORMATS[one.format].ours
    refuse_foreign(one.path, lambda head: ours(head, one.path), what=f"{one.format} of a run")
    if one.format == "parquet":
        with needs_extra("writing Parquet", "parquet"):
            import pyarrow.parquet  # noqa: F401
    if one.format == "excel":
        with needs_extra("writing Excel workbooks", "excel"):
            import openpyxl  # noqa: F401


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
