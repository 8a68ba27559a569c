from __future__ import annotations

import errno
import sqlite3
import subprocess
import sys

import pytest

from judgekit.core.open_files import ADVICE, is_out_of_files
from judgekit.judges.translation import ServerError, translate

AT_LIMIT = """
import os, resource, sqlite3
from judgekit.core.open_files import RESERVED, calls_that_fit, is_out_of_files
from judgekit.cassette.store import Store
from judgekit.core.errors import CassetteError
from pathlib import Path
import sys

before = calls_that_fit()
resource.setrlimit(resource.RLIMIT_NOFILE, (RESERVED + 100, RESERVED + 100))
print(50 < calls_that_fit() < 100)
store = Store(Path(sys.argv[1]))
store.close()
files = []
try:
    while True:
        files.append(os.open(os.devnull, os.O_RDONLY))
except OSError as exc:
    print(is_out_of_files(exc))
try:
    store.get("key")
except CassetteError as exc:
    print(exc)
print(calls_that_fit())
"""


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_error_of_a_call_names_the_limit(number: int) -> None:
    error = translate(caused(ServerError("Connection error."), OSError(number, "x")))

    assert str(error) == f"no connection: {ADVICE}"


def test_other_errors_are_not_taken_for_it() -> None:
    for error in (OSError(errno.EACCES, "x"), sqlite3.OperationalError("database is locked"),
                  sqlite3.OperationalError("unable to open database file"), None):  # fmt: skip
        assert not is_out_of_files(error)


def test_process_at_its_limit(tmp_path: object) -> None:
    pytest.importorskip("resource")

    done = subprocess.run(
        [sys.executable, "-c", AT_LIMIT, str(tmp_path)], capture_output=True, text=True, timeout=60
    )

    assert done.stdout.splitlines()[:2] == ["True", "True"], done.stderr
    assert ADVICE in done.stdout
    assert "delete the folder" not in done.stdout
    assert done.stdout.splitlines()[-1] == "1"
