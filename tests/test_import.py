"""Importing has no effects, shown in fresh processes that can neither connect nor write."""

from __future__ import annotations

import json
import os
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import judgekit
from tests.each import each

ROOT = Path(__file__).parents[1]
GUARD = """
import builtins, io, json, os, socket, sys

def refused(*args, **kwargs):
    raise AssertionError(f"an import reached out: {args!r}")

socket.socket.connect = refused
socket.getaddrinfo = refused
opened = builtins.open

def reading(file, mode="r", *args, **kwargs):
    if set(mode) & set("wax+"):
        refused(file, mode)
    return opened(file, mode, *args, **kwargs)

builtins.open = io.open = reading
before = dict(os.environ)
"""
VERDICT = """
print(json.dumps({"modules": sorted(sys.modules), "changed": dict(os.environ) != before}))
"""
MODULES = [
    info.name
    for info in pkgutil.walk_packages(judgekit.__path__, "judgekit.")
    if not info.name.endswith("__main__")
]


def imported(code, tmp_path):
    """Run imports in a read-only working folder; return what came of them."""
    empty = tmp_path / "empty"
    empty.mkdir()
    empty.chmod(0o500)
    environment = {k: v for k, v in os.environ.items() if k != "LITELLM_LOCAL_MODEL_COST_MAP"}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "JUDGEKIT_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", GUARD + code + VERDICT],
        cwd=empty,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(empty.iterdir()) == []
    assert not (tmp_path / "home").exists()
    *printed, verdict = done.stdout.splitlines()
    return {"printed": "\n".join(printed), **json.loads(verdict)}


def test_importing_the_package_loads_next_to_nothing(tmp_path):
    outcome = imported("import judgekit\n", tmp_path)

    heavy = {
        "litellm", "instructor", "openai", "jinja2", "diskcache", "numpy", "typer", "pydantic",
        "yaml", "tenacity",
    }  # fmt: skip
    assert heavy.isdisjoint(outcome["modules"])
    assert not outcome["changed"]


def test_importing_every_module_loads_no_provider_and_hides_no_public_name(tmp_path):
    code = "".join(f"import {name}\n" for name in MODULES) + (
        "import judgekit\nfrom types import ModuleType\n"
        "hidden = [n for n in judgekit.__all__ if isinstance(getattr(judgekit, n), ModuleType)]\n"
        "print(hidden)\n"
    )

    outcome = imported(code, tmp_path)

    assert outcome["printed"] == "[]"
    assert {"litellm", "instructor", "openai"}.isdisjoint(outcome["modules"])
    assert set(MODULES) <= set(outcome["modules"])
    assert not outcome["changed"]


def test_the_command_line_starts_without_what_it_does_not_need(tmp_path):
    outcome = imported("import judgekit.cli.app\n", tmp_path)

    heavy = {"litellm", "instructor", "openai", "jinja2", "diskcache", "numpy"}
    assert heavy.isdisjoint(outcome["modules"])


def test_linting_loads_no_numpy(tmp_path):
    code = """
import contextlib
sys.argv = ["judgekit", "rubric", "lint", "quality"]
from judgekit.cli import main
with contextlib.suppress(SystemExit):
    main()
"""
    outcome = imported(code, tmp_path)

    assert outcome["printed"] == "no problems in 1 file"
    assert "numpy" not in outcome["modules"]


def replayed(tmp_path):
    """Replay one case of the example; return what was loaded for it."""
    run = [
        str(ROOT / "examples" / "support_assistant" / "suite.yaml"),
        "--limit",
        "1",
        "-q",
        "--no-out",
    ]
    code = f"""
import contextlib
sys.argv = ["judgekit", "run", *{run!r}]
from judgekit.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
before = dict(os.environ)
"""
    return imported(code, tmp_path)


def test_one_case_replayed_loads_only_what_it_uses(tmp_path):
    """What a replay has no use for is most of the package, and most of what others need."""
    loaded = set(replayed(tmp_path)["modules"])

    assert {
        "judgekit.cassette.tape",
        "judgekit.metrics.prompt_alignment.prompt_alignment",
    } <= loaded
    unused = {
        "litellm", "instructor", "openai", "numpy", "torch", "tenacity", "diskcache", "sqlite3",
        # A replay runs without an event loop; importing asyncio takes 75 ms.
        "asyncio", "ssl",
    }  # fmt: skip
    assert unused.isdisjoint(loaded)


@pytest.mark.parametrize(("said", "found"), [("__all__", []), ("some-other", ["acme_hooks"])])
def test_plugins_of_pydantic_are_looked_for_only_where_somebody_asks_for_them(
    tmp_path, monkeypatch, said, found
):
    info = tmp_path / "site" / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[pydantic]\nacme = acme_hooks:hooks\n", "utf-8")
    hooks = (
        "class Hooks:\n    new_schema_validator = lambda *_: (None, None, None)\nhooks = Hooks()\n"
    )
    (tmp_path / "site" / "acme_hooks.py").write_text(hooks, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    monkeypatch.setenv("PYDANTIC_DISABLE_PLUGINS", said)
    code = """
import contextlib
sys.argv = ["judgekit", "metrics"]
from judgekit.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
from pydantic.plugin._loader import get_plugins
found = [type(plugin).__module__ for plugin in get_plugins()]
print(json.dumps(found))
"""

    done = imported(code, tmp_path)

    assert done["printed"] == json.dumps(found)


def test_the_public_names_are_sorted():
    names = [name for name in judgekit.__all__ if name != "__version__"]

    assert names == sorted(names)
    assert len(set(judgekit.__all__)) == len(judgekit.__all__)


@each("name", judgekit.__all__)
def test_a_public_name_can_be_used_and_is_listed(name):
    assert getattr(judgekit, name) is not None
    assert name in dir(judgekit)


def test_dir_shows_the_names_that_people_use():
    assert dir(judgekit) == sorted(
        [*judgekit.__all__, "__version__", "datasets", "metrics", "types"]
    )


@pytest.mark.parametrize("former", judgekit._RENAMED)
def test_a_former_name_still_works_with_a_warning(former, monkeypatch):
    monkeypatch.delitem(vars(judgekit), former, raising=False)
    path = judgekit._RENAMED[former]
    home, _, name = path.rpartition(".")

    with pytest.warns(DeprecationWarning, match=re.escape(f"judgekit.{former} is now {path};")):
        value = getattr(judgekit, former)

    assert value is getattr(import_module(home), name)
    assert former not in dir(judgekit)
    assert former not in judgekit.__all__


def test_completion_in_ipython_shows_no_helper_and_no_former_name():
    completer = pytest.importorskip("IPython.core.completer")
    names = {"judgekit": judgekit}

    with completer.provisionalcompleter():
        typed = "judgekit."
        found = completer.IPCompleter(namespace=names, use_jedi=False).completions(
            typed, len(typed)
        )
        shown = {one.text.removeprefix(".") for one in found}

    assert {"create_metric", "datasets"} <= shown
    hidden = {"create", "Persona", "Any", "TYPE_CHECKING", "LazyNames", "annotations"}
    assert hidden.isdisjoint(shown)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Rubrik"):
        judgekit.Rubrik  # noqa: B018 - looking is the test
