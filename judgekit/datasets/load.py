"""Load cases from a file, standard input or Python objects, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, cast, get_args

from judgekit.core.arguments import checked
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, DatasetError, JudgekitError
from judgekit.core.input_file import nearby
from judgekit.core.limits import check_limit
from judgekit.core.suggest import suggest
from judgekit.datasets.case_builder import CaseBuilder, Shape
from judgekit.datasets.field_names import CSV_CELLS, JSON_CELLS
from judgekit.datasets.formatting import kind, quoted
from judgekit.datasets.ids import ID_LENGTH, IdSet, is_derived
from judgekit.datasets.jsonl_reader import read_jsonl
from judgekit.datasets.row_builder import RowBuilder
from judgekit.datasets.stream import STDIN, open_bytes, translated

Container = Literal["auto", "jsonl", "json", "yaml", "csv", "parquet", "excel"]
"""The format of a file of rows."""

Thoughts = Literal["drop", "keep"]
"""What happens to the thoughts of a model in its texts."""

Library = Literal["pandas", "polars", "datasets"]
Frame = Any
"""A data frame of pandas or polars, or a Hugging Face data set."""

Source = str | Path | Iterable[Mapping[str, Any] | Case] | Frame
"""A source of cases."""

Placed = Iterator[tuple[str | int, Case]]
"""Cases with their locations: a line number, or a text such as `row 3`."""

ENDINGS: Mapping[str, Container] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "excel",
    ".xlsm": "excel",
}
"""File extension -> container; all except Parquet and Excel may also end in `.gz`."""


_LONGEST_PATH = 1000


@checked
def load_cases(
    source: Source,
    *,
    format: Shape | None = None,
    container: Container | None = None,
    fields: Mapping[str, str] | None = None,
    limit: int | None = None,
    thoughts: Thoughts | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> Iterator[Case]:
    """Yield cases one at a time, in order, and check that their ids are unique.

    The call itself checks the settings and that the file exists; rows are checked during iteration.
    A row without an id gets a digest of its content as its id.

    Args:
        source: A path, `-` for standard input, an iterable of dicts or cases, a data frame of
            pandas or polars (also lazy), or a Hugging Face data set (also a stream).
        format: The format of a row. `rows`: the fields of a case by name or common alias. `chat`:
            `messages` in the format of any known tool. `mastra`: a scorer run's `input` and
            `output`. `turns`: one turn of a session; all turns of a session become one case.
            `mmlu`, `gsm8k`, `humaneval`:
            rows of these benchmarks. By default, or with `auto`, it is detected for each row.
        container: The format of the file. By default, or with `auto`, it is detected by the file
            extension; standard input is `jsonl`.
        fields: Field -> dotted path in the row: `{"input": "prompt", "metadata.topic": "tags.0?"}`.
            A final `?` makes a path optional. Unknown keys that are not mapped go to `metadata`;
            `{"metadata": "rest"}` says only this.
        limit: Stop after this many cases.
        thoughts: `drop` (the default) moves the thoughts of a model to `metadata.thoughts`, `keep`
            leaves them in its texts.
        delimiter: The character between columns of a CSV file; by default, the header shows it.
        encoding: The encoding of a text file; by default UTF-8, or UTF-16 with its mark.
        sheet: The sheet of an Excel workbook; by default, the only one with cells.

    Raises:
        ConfigError: a setting is wrong.
        DatasetError: a file or a row cannot be read.
        MissingExtra: the file is Parquet or Excel, and its extra is not installed.

    Example:
        >>> rows = [{"question": "2+2?", "answer": "4"}, {"id": "b", "prompt": "3+3?"}]
        >>> [case.input for case in load_cases(rows)]
        ['2+2?', '3+3?']
    """
    shape = shape_of(format)
    container = _setting(container, get_args(Container), "container")
    if limit is not None:
        check_limit(limit)
    if isinstance(source, str | Path):
        if len(str(source)) > _LONGEST_PATH or "\n" in str(source):
            problem = f"cannot load cases from the text {quoted(source)}; give the path of a file"
            raise ConfigError(problem)
        path = None if str(source) == "-" else Path(source)
        name = STDIN if path is None else str(source)
        read = read_file(
            path,
            name,
            shape=shape,
            container=container or "auto",
            fields=fields,
            thoughts=thoughts,
            delimiter=delimiter,
            encoding=encoding,
            sheet=sheet,
        )
        repeatable = path is not None and path.is_file()  # a pipe can be read only once
    else:
        name, read = "", _read_values(source, shape=shape, fields=fields, thoughts=thoughts)
        repeatable = isinstance(source, list | tuple) or library_of(source) is not None
    again = read if repeatable else None
    return islice(_distinct(read(), name=name, again=again), limit)


def _read_values(
    source: Any,
    *,
    shape: Shape,
    fields: Mapping[str, str] | None,
    thoughts: Thoughts | None,
) -> Callable[[], Placed]:
    """Return a function that yields the cases of a data frame or of Python objects."""
    if (library := library_of(source)) is not None:
        builder = _builder(shape, fields, JSON_CELLS, thoughts)
        return _cases(partial(_read_frame, source, library, builder=builder), shape)
    if isinstance(source, Mapping | bytes) or not isinstance(source, Iterable):
        raise ConfigError(f"cannot load cases from {kind(source)}; give a path or a list of dicts")
    return _cases(
        partial(_read_objects, source, builder=_builder(shape, fields, (), thoughts)), shape
    )


def library_of(value: Any) -> Library | None:
    """Return the name of a data frame's library, without importing it.

    >>> library_of([]) is None
    True
    """
    for base in type(value).__mro__:
        package = base.__module__.partition(".")[0]
        if package in get_args(Library):
            return cast(Library, package)
    return None


def _builder(
    shape: Shape,
    fields: Mapping[str, str] | None,
    cells: Collection[str],
    thoughts: Thoughts | None,
) -> RowBuilder:
    keep = _setting(thoughts or "drop", get_args(Thoughts), "thoughts") == "keep"
    if shape != "turns":
        return CaseBuilder(shape=shape, fields=fields, cells=cells, keep_thoughts=keep)
    from judgekit.datasets.turn_rows import TurnBuilder

    return TurnBuilder(fields=fields, cells=cells)


def _cases(read: Callable[[], Placed], shape: Shape) -> Callable[[], Placed]:
    """Return a function that yields cases from the output of a reader: cases or turns."""
    if shape != "turns":
        return read
    from judgekit.datasets.turn_rows import sessions

    return lambda: sessions(read())


def cases_of(source: Source) -> Iterable[Case]:
    """Return cases unchanged; load a path, a data frame or a list of dicts with `load_cases`."""
    if isinstance(source, str | Path | Mapping | Case) or library_of(source) is not None:
        return load_cases([source] if isinstance(source, Mapping | Case) else source)
    if isinstance(source, bytes | type) or not isinstance(source, Iterable):
        return load_cases(source)
    if isinstance(source, list | tuple) and source and not isinstance(source[0], Case):
        return load_cases(source)
    return _read_if_needed(iter(source))


def _read_if_needed(source: Iterator[Any]) -> Iterator[Case]:
    """Yield cases, and what is read from dicts among them."""
    for case in source:
        if isinstance(case, Case):
            yield case
        else:
            yield from load_cases(chain([case], source))


def read_file(
    path: Path | None,
    name: str,
    *,
    shape: Shape = "rows",
    container: Container = "auto",
    fields: Mapping[str, str] | None = None,
    wrap: Callable[[RowBuilder], RowBuilder] | None = None,
    thoughts: Thoughts | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> Callable[[], Placed]:
    """Return a function that opens a file, or standard input for `None`, and yields its cases.

    Args:
        path: the file.
        name: its name in messages.
        shape: the format of a row.
        container: the format of the file.
        fields: the paths of fields.
        wrap: wraps the row builder; the results of the wrapper are yielded unchanged, including
            turns of sessions.
        thoughts: whether thoughts stay in the texts.
        delimiter: the character between columns of a CSV file.
        encoding: the encoding of a text file.
        sheet: the sheet of an Excel workbook.

    Raises:
        DatasetError: the file does not exist, or its format is unknown.
    """
    if path is not None:
        with translated(name):
            if not path.exists():
                hint = nearby(path) or "; check the path"
                raise DatasetError(f"no such file{hint}", where=name)
            if path.is_dir():
                raise DatasetError("this is a folder; name a file in it", where=name)
    if container == "auto":
        container = "jsonl" if path is None else _container_of(path)
    cells = {"csv": CSV_CELLS, "excel": CSV_CELLS, "parquet": JSON_CELLS}.get(container, ())
    _check_text(delimiter, encoding)
    builder = _builder(shape, fields, cells, thoughts)
    builder = wrap(builder) if wrap else builder
    if container == "parquet":
        if path is None or path.suffix.lower() == ".gz":
            problem = "Parquet is read from a plain file only; unpack it, or save it to one"
            raise DatasetError(problem, where=name)
        from judgekit.datasets.parquet_reader import read_parquet

        rows = partial(read_parquet, path, builder=builder)
    elif container == "excel":
        if path is None or path.suffix.lower() == ".gz":
            problem = "Excel workbooks are read from a plain file only; save it to one"
            raise DatasetError(problem, where=name)
        from judgekit.datasets.excel_reader import read_excel

        rows = partial(read_excel, path, name=name, builder=builder, sheet=sheet)
    else:
        reader: Any = read_jsonl
        if container == "csv":
            from judgekit.datasets.csv_reader import read_csv

            tabs = path is not None and ".tsv" in path.suffixes
            reader = partial(read_csv, delimiter=delimiter or ("\t" if tabs else None))
        elif container == "json":
            from judgekit.datasets.json_reader import read_json as reader
        elif container == "yaml":
            from judgekit.datasets.json_reader import read_yaml as reader
        rows = partial(_opened, path, partial(reader, name=name, builder=builder), encoding)
    whole = partial(_whole, rows, name)
    return whole if wrap else _cases(whole, shape)


def find_places(
    path: Path,
    ids: Collection[str],
    *,
    format: Any = None,
    container: Any = None,
    fields: Mapping[str, str] | None = None,
    **settings: Any,
) -> dict[str, tuple[str, int | None]]:
    """Return the file and the line of cases; without a line if rows are not lines.

    There is no location for a case that is not in the file, or if the file can be read only once.
    """
    places: dict[str, tuple[str, int | None]] = {}
    if not path.is_file():
        return places
    shape: Shape = format or "auto"
    rows = read_file(
        path,
        str(path),
        shape=shape,
        container=container or "auto",
        fields=fields,
        **settings,
    )
    missing = set(ids)
    try:
        for at, case in _numbered(rows()):
            if case.id in missing:
                missing.remove(case.id)
                places[case.id] = (path.as_posix(), at if isinstance(at, int) else None)
            if not missing:
                break
    except JudgekitError:
        # The file has changed, so line numbers may be wrong.
        return {}
    return places


_DELIMITERS = {"tab": r"\t", r"\t": r"\t", "comma": ",", "pipe": "|", "space": " "}
"""A word for a delimiter -> the character, as YAML writes it in quotes."""


def _check_text(delimiter: str | None, encoding: str | None) -> None:
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        meant = _DELIMITERS.get(delimiter.lower(), ";")
        message = f"delimiter: {quoted(delimiter)} is not one character; write delimiter: "
        raise ConfigError(f'{message}"{meant}"')
    if encoding is not None:
        try:
            "".encode(encoding)
        except (LookupError, ValueError) as exc:
            problem = f"encoding: {quoted(encoding)} is not known; write utf-8, utf-16 or cp1252"
            raise ConfigError(problem) from exc


def _opened(path: Path | None, read: Callable[..., Placed], encoding: str | None) -> Placed:
    with open_bytes(path, encoding=encoding) as stream:
        yield from read(stream)


def _whole(read: Callable[[], Placed], name: str) -> Placed:
    """Yield the cases of a file; a file without cases is an error."""
    rows = read()
    first = next(rows, None)
    if first is None:
        raise DatasetError("there are no cases in it; check that it was written", where=name)
    yield first
    del first
    yield from rows


def _read_objects(source: Iterable[Any], *, builder: RowBuilder) -> Placed:
    advice = "give texts, numbers, lists and dicts"
    for number, item in enumerate(source, start=1):
        where = f"row {number}"
        if not isinstance(item, Case):
            item = builder.build_python(item, where=where, advice=advice)  # noqa: PLW2901
        yield where, item


def _read_frame(frame: Any, library: Library, *, builder: RowBuilder) -> Placed:
    """Yield the cases of a data frame; the location of a row is its index label or number."""
    from judgekit.datasets.dataframes.libraries import ROWS

    empty = True
    for label, values in ROWS[library](frame):
        empty = False
        where = f"row {quoted(label) if isinstance(label, str) else str(label)[:60]}"
        advice = "convert the column to texts, numbers, lists or dicts"
        yield where, builder.build_python(values, where=where, advice=advice)
    if empty:
        raise DatasetError("there are no rows in it", where=f"the {type(frame).__name__}")


def _distinct(rows: Placed, *, name: str, again: Callable[[], Placed] | None) -> Iterator[Case]:
    """Yield the cases; a repeated id is an error."""
    add = IdSet().add
    for at, case in _numbered(rows):
        if not add(case.id):
            raise _repeated(case, at, name=name, again=again)
        yield case


def _numbered(rows: Placed) -> Placed:
    """Yield placed cases; a row without an id gets a number if its content occurred before.

    The number does not depend on the order of other rows, so ids stay when rows are added.
    """
    seen = IdSet()
    counts: dict[str, int] = {}
    for at, case in rows:
        if not isinstance(case, Case) or len(case.id) != ID_LENGTH or seen.add(case.id):
            yield at, case
        elif is_derived(case):
            counts[case.id] = number = counts.get(case.id, 1) + 1
            yield at, case.model_copy(update={"id": f"{case.id}-{number}"})
        else:
            yield at, case


def _repeated(
    case: Case, at: str | int, *, name: str, again: Callable[[], Placed] | None
) -> DatasetError:
    # The set of ids has no locations, so the rows are read again up to the first use.
    rows = _numbered(again()) if again else iter(())
    first = next((place for place, other in rows if other.id == case.id), at)
    before = "" if first == at else f" at {_where(name, first)}"
    message = f"{quoted(case.id)} was used before{before}; give every row its own id"
    return DatasetError(message, where=_where(name, at), field="id")


def _where(name: str, at: str | int) -> str:
    if isinstance(at, int):
        return f"{name}:{at}"
    return f"{name}: {at}" if name else at


_SPREADSHEETS = {".xls", ".xlsb", ".ods", ".numbers", ".gsheet", ".docx", ".pdf", ".html"}
"""Endings of tables that their programs can save in another format."""


def _container_of(path: Path) -> Container:
    endings = [ending.lower() for ending in path.suffixes]
    ending = endings[-2] if endings[-1:] == [".gz"] and len(endings) > 1 else "".join(endings[-1:])
    if ending in ENDINGS:
        return ENDINGS[ending]
    shown = f"the ending {quoted(ending)}" if ending else "a name without an ending"
    known = ", ".join(ENDINGS)
    if ending in _SPREADSHEETS:
        message = f"{shown} is no table that judgekit reads; save it as .xlsx or .csv"
        raise DatasetError(message, where=str(path))
    message = (
        f"{shown} does not show the format of the file; use one of {known}, or set `container` in "
        "a suite"
    )
    raise DatasetError(message, where=str(path))


def shape_of(word: str | None) -> Shape:
    """Return the row format for a word; `auto` by default.

    Raises:
        ConfigError: the word is unknown.
    """
    shape: Shape = _setting(word, get_args(Shape), "format")
    return shape


def _setting(value: str | None, known: tuple[Any, ...], setting: str) -> Any:
    """Return a setting after checking that it is a known word."""
    if value is None:
        return "auto"
    if value in known:
        return value
    hint = suggest(value, known, otherwise=f"; use {', '.join(known)}")
    raise ConfigError(f"{setting}: {quoted(value)} is not known{hint}")
