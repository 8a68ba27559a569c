"""The processes of a merge: each reads the rows of some metrics of all shards, and counts them.

All figures of a metric are sums in the order of the cases, so one process counts all its rows, and
the bytes are those of a merge in one process. A process reads a chunk of cases only when it is
asked for it, so that all have counted the same cases when the merge is stopped.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import warnings
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from judgekit.core.canonical import canonical_json
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, JudgekitError, place
from judgekit.core.score import Failure, Row, row_bytes
from judgekit.core.synchronous import Flag
from judgekit.report.blocks import CaseBlock
from judgekit.report.clusters import cluster_of
from judgekit.report.folder import checked_row
from judgekit.report.summary import MetricSummary, Tally
from judgekit.runner.evaluation import TalliedCase
from judgekit.runner.sequencer import case_text

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

LEAST_ROWS = 20_000
"""Number of rows below which one process is as fast."""
CHUNK = 256
"""Maximum number of cases that a process reads at once."""
MOST_BYTES = 8_000_000
"""Size of lines after which a chunk ends."""
_AGAIN = 1
"""How often a process that was killed is started again."""
_NEXT, _FINISH = b"next", b"finish"
_FAILED, _MISSES = 1, 2
_AFTER_NAME = b',"result":'

Blocks = Callable[[], Iterator[tuple[str, CaseBlock]]]
"""Opens the cases of all shards in the order of the data set, each with the path of its file."""


def processes(metrics: int, *, cases: int, wanted: int | None = None) -> int:
    """Return how many processes a merge should use; 1: the process that merges is enough.

    Args:
        metrics: number of metrics of the suite.
        cases: number of cases of all shards.
        wanted: what the caller wants, if it is not what pays.
    """
    # macOS has libraries that a forked process must not use, and Windows has no fork.
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    if wanted is None:
        wanted = usable if cases * metrics >= LEAST_ROWS else 1
    elif sys.platform != "linux":
        wanted = 1
    return max(1, min(wanted, metrics))


class MergeWorkers:
    """Reads and counts the rows of shards in several processes.

    Args:
        blocks: opens the cases of all shards.
        processes: number of processes.
        stop: set it to end early.
    """

    def __init__(self, blocks: Blocks, *, processes: int, stop: Flag) -> None:
        self._blocks, self._count, self._stop = blocks, processes, stop
        self._stack = ExitStack()
        self._workers: list[_MergeProcess] = []

    def __enter__(self) -> MergeWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def cases(self, tallies: Mapping[str, Tally], *, cluster: str | None) -> Iterator[TalliedCase]:
        """Yield the cases in order, with the rows that the processes have read.

        Raises:
            ConfigError: a row or a case is damaged, or a process was killed twice.
        """
        names = list(tallies)
        for first in range(self._count):
            metrics = {name: tallies[name] for name in names[first :: self._count]}
            job = _MergeJob(self._blocks, metrics, names, first == 0, cluster)
            worker = _MergeProcess(job, siblings=self._workers)
            self._stack.callback(worker.end)
            self._workers.append(worker)
        owners = [(self._workers[n % self._count], n // self._count) for n in range(len(names))]
        blocks = self._blocks()
        asked = True
        for worker in self._workers:
            worker.ask()
        while asked:
            several, problem = _parsed(blocks)
            chunks = {id(worker): worker.chunk() for worker in self._workers}
            problems = [chunk.problem for chunk in chunks.values() if chunk.problem is not None]
            if problem is not None:
                problems.append(problem)
            if problems:
                raise ConfigError(min(problems).message)
            # A process reads the next chunk while this one is written. After a stop, that one is
            # written too, because it is counted.
            asked = bool(several) and not self._stop.is_set()
            for worker in self._workers if asked else ():
                worker.ask()
            for number, case in enumerate(several):
                rows, flags = [], []
                for worker, column in owners:
                    chunk = chunks[id(worker)]
                    at = number * chunk.width + column
                    rows.append(chunk.rows[at])
                    flags.append(chunk.flags[at])
                misses = any(flag & _MISSES for flag in flags)
                failed = sum(bool(flag & _FAILED) for flag in flags)
                yield TalliedCase(case_text(case), rows, failed, misses)

    def finish(self) -> Mapping[str, MetricSummary]:
        """Return the summaries of the metrics over the cases yielded, in the order of the suite."""
        found: dict[str, MetricSummary] = {}
        several = [list(worker.finish().items()) for worker in self._workers]
        for number in range(max(map(len, several), default=0)):
            found.update(summaries[number] for summaries in several if number < len(summaries))
        return found


class _Problem(NamedTuple):
    """A problem with a case; the smallest is the one that is read first."""

    case: int
    """Its place in the chunk."""
    line: int
    """0 for the case, 1 for its first row."""
    message: str


class _Chunk(NamedTuple):
    """What a process read of some cases."""

    width: int
    rows: Sequence[bytes]
    flags: bytes
    problem: _Problem | None = None

    def packed(self) -> bytes:
        if self.problem is not None:
            return b"!" + json.dumps(self.problem).encode()
        lengths = array("Q", map(len, self.rows))
        head = struct.pack("=II", self.width, len(self.rows))
        return b"".join((b"+", head, lengths.tobytes(), self.flags, *self.rows))

    @classmethod
    def of(cls, data: bytes) -> _Chunk:
        if data[:1] == b"!":
            case, line, message = json.loads(data[1:])
            return cls(0, (), b"", _Problem(case, line, message))
        width, count = struct.unpack_from("=II", data, 1)
        at = 9 + 8 * count
        lengths = array("Q", data[9:at])
        flags = data[at : at + count]
        at += count
        rows = []
        for length in lengths:
            rows.append(data[at : at + length])
            at += length
        return cls(width, rows, flags)


def _next_chunk(blocks: Iterator[tuple[str, CaseBlock]]) -> Iterator[tuple[str, CaseBlock]]:
    """Yield the cases of the next chunk, which are the same in every process."""
    size = 0
    for path, block in islice(blocks, CHUNK):
        yield path, block
        size += len(block.case) + sum(map(len, block.rows))
        if size >= MOST_BYTES:
            return


def _parsed(blocks: Iterator[tuple[str, CaseBlock]]) -> tuple[list[Case], _Problem | None]:
    """Return the next cases, and the problem that ends them."""
    cases: list[Case] = []
    try:
        for path, block in _next_chunk(blocks):
            with _damaged(path, block.number):
                cases.append(Case.model_validate(json.loads(block.case)["case"]))
    except JudgekitError as exc:
        return cases, _Problem(len(cases), 0, str(exc))
    return cases, None


class _damaged:
    """Report what is not a result of judgekit, with file and line."""

    def __init__(self, path: str, line: int) -> None:
        self._path, self._line = path, line

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, exc: BaseException | None, trace: Any) -> None:
        if isinstance(exc, (ValidationError, ValueError, KeyError, TypeError, RecursionError)):
            where = place(self._path, self._line)
            raise ConfigError("not a result judgekit wrote", where=where) from exc


class _MergeJob:
    """What a process does: count the rows of some metrics, a chunk of cases at a time.

    Args:
        blocks: opens the cases of all shards.
        tallies: what counts the rows of its metrics.
        known: all metrics of the suite, in order.
        others: whether it also checks rows of metrics that the suite does not have.
        cluster: the field that clusters cases.
    """

    def __init__(
        self,
        blocks: Blocks,
        tallies: Mapping[str, Tally],
        known: Sequence[str],
        others: bool,
        cluster: str | None,
    ) -> None:
        self._open, self._tallies, self._cluster = blocks, tallies, cluster
        self._others = others
        self._names = {canonical_json(name).encode() for name in tallies}
        self._foreign = {canonical_json(name).encode() for name in known if name not in tallies}
        self._places = {name: place for place, name in enumerate(known, start=1)}

    def run(self, pipe: Connection) -> None:
        """Answer requests until the summaries are asked for."""
        blocks = self._open()
        while pipe.recv_bytes() == _NEXT:
            pipe.send_bytes(self._chunk(blocks).packed())
        summaries = {name: tally.finish() for name, tally in self._tallies.items()}
        texts = {name: one.model_dump_json() for name, one in summaries.items()}
        pipe.send_bytes(json.dumps(texts).encode())

    def _chunk(self, blocks: Iterator[tuple[str, CaseBlock]]) -> _Chunk:
        rows: list[bytes] = []
        flags = bytearray()
        number = at = 0
        try:
            for path, block in _next_chunk(blocks):
                at = 0
                with _damaged(path, block.number):
                    case = Case.model_validate(json.loads(block.case)["case"])
                results = {}
                head = f'{{"case":{canonical_json(case.id)},"metric":'.encode()
                for at, line in enumerate(block.rows, start=1):
                    with _damaged(path, block.number + at):
                        row = self._row(case, head, line)
                    if row is not None:
                        results[row.metric] = row.result
                cluster = cluster_of(case.id, case.metadata, self._cluster)
                for name, tally in self._tallies.items():
                    if name not in results:
                        at = len(block.rows) + self._places[name]
                        message = f"case {case.id!r} has no result of {name!r}; run its shard again"
                        raise ConfigError(message)
                    result = results[name]
                    passes = tally.add(case.id, result, cluster, case.output, case)
                    failed = isinstance(result, Failure)
                    flags.append(_FAILED * failed + _MISSES * (passes is False))
                    rows.append(row_bytes(case.id, name, result))
                number += 1
        except JudgekitError as exc:
            return _Chunk(0, (), b"", _Problem(number, at, str(exc)))
        return _Chunk(len(self._tallies), rows, bytes(flags))

    def _row(self, case: Case, head: bytes, line: bytes) -> Row | None:
        """Return a row of its metrics; `None` for a row that another process reads.

        Args:
            case: the case.
            head: how its rows begin in canonical JSON.
            line: the row.
        """
        if line.startswith(head):
            name = line[len(head) : line.find(_AFTER_NAME, len(head))]
            if name not in self._names and (name in self._foreign or not self._others):
                return None
        row = checked_row(Row.model_validate_json(line), case)
        return row if row.metric in self._tallies else None


class _MergeProcess:
    """A process with a job, and the pipe to it.

    Args:
        job: what it does.
        siblings: the processes that were started before.
    """

    def __init__(self, job: _MergeJob, *, siblings: Sequence[_MergeProcess]) -> None:
        self._job = job
        self._siblings = siblings
        self._done = 0
        self._again = _AGAIN
        self._start()

    def _start(self) -> None:
        from multiprocessing import get_context

        context = get_context("fork")
        self._pipe, theirs = context.Pipe()
        ours = [self._pipe, *(other._pipe for other in self._siblings if other is not self)]
        with warnings.catch_warnings():
            # Python 3.12 warns of threads: the process uses none of their locks.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process = context.Process(target=_serve, args=(self._job, theirs, ours))
            self._process.daemon = True
            self._process.start()
        theirs.close()

    def ask(self) -> None:
        """Ask for the next chunk, which `chunk` returns."""
        with suppress(OSError):  # `chunk` notices
            self._pipe.send_bytes(_NEXT)

    def chunk(self) -> _Chunk:
        """Return the chunk that was asked for.

        Raises:
            ConfigError: the process was killed, and again.
        """
        chunk = _Chunk.of(self._received())
        self._done += 1
        return chunk

    def finish(self) -> dict[str, MetricSummary]:
        """Return the summaries of its metrics."""
        with suppress(OSError):
            self._pipe.send_bytes(_FINISH)
        texts = json.loads(self._received(finish=True))
        return {name: MetricSummary.model_validate_json(text) for name, text in texts.items()}

    def _received(self, *, finish: bool = False) -> bytes:
        while True:
            try:
                return self._pipe.recv_bytes()
            except (EOFError, OSError) as exc:
                self.end()
                code = self._process.exitcode
                if self._again == 0:
                    message = (
                        f"a process of the merge ended twice ({_ended(code)}); is there memory?"
                    )
                    raise ConfigError(message) from exc
                self._again -= 1
                self._start()
                # The new process counts all cases again up to the one that is missing.
                with suppress(EOFError, OSError):
                    for _ in range(self._done):
                        self._pipe.send_bytes(_NEXT)
                        self._pipe.recv_bytes()
                    self._pipe.send_bytes(_FINISH if finish else _NEXT)

    def end(self) -> None:
        """End the process, if it still runs."""
        self._pipe.close()
        self._process.kill()
        self._process.join()


def _ended(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"


def _serve(job: _MergeJob, pipe: Connection, others: Sequence[Connection]) -> None:
    """Do a job in a new process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends Ctrl-C to every process
    for other in others:
        other.close()  # or this process would keep a pipe open after its reader was killed
    # Not the end of the other process: its buffers of open files are not ours to write.
    with suppress(EOFError, OSError):
        job.run(pipe)
    os._exit(0)
