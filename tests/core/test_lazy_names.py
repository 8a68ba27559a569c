"""Names that are loaded on first use, and former names with a warning."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType

import pytest

import judgekit
from judgekit.core.lazy_names import LazyNames


@pytest.fixture
def acme(monkeypatch):
    """A module with one name, one submodule and one former name."""
    module = ModuleType("acme")
    names = LazyNames(
        "acme",
        {"acme.judges": ["Strict"]},
        modules=["judges"],
        renamed={"Stern": "acme.judges.Strict"},
        own=["__version__"],
    )
    module.__getattr__, module.__dir__ = (lambda name: names.get(name)), names.dir
    home = ModuleType("acme.judges")
    home.Strict = "the judge"
    monkeypatch.setitem(sys.modules, "acme", module)
    monkeypatch.setitem(sys.modules, "acme.judges", home)
    return module


def test_a_name_comes_from_its_home(acme):
    assert acme.Strict == "the judge"
    assert acme.judges is sys.modules["acme.judges"]


def test_dir_lists_names_and_submodules_but_no_former_name(acme):
    assert dir(acme) == ["Strict", "__version__", "judges"]


def test_the_first_use_of_a_former_name_warns_with_the_new_one(acme):
    with pytest.warns(DeprecationWarning, match="Stern") as caught:
        assert acme.Stern == "the judge"

    (warning,) = caught
    assert str(warning.message) == (
        "acme.Stern is now acme.judges.Strict; judgekit 0.2 removes the former name"
    )
    assert warning.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert acme.Stern == "the judge"
    assert "Stern" not in dir(acme)


def test_an_import_of_a_former_name_warns_once(acme):
    with pytest.warns(DeprecationWarning, match="Stern") as caught:
        from acme import Stern

    assert Stern == "the judge"
    assert [warning.filename for warning in caught] == [__file__]


def test_where_warnings_are_errors_each_use_of_a_former_name_is_one(acme):
    for _ in range(2):
        with pytest.raises(DeprecationWarning, match=r"acme\.judges\.Strict"):
            acme.Stern  # noqa: B018 - looking is the test


def test_an_unknown_name_is_an_attribute_error(acme):
    with pytest.raises(AttributeError, match=r"module 'acme' has no attribute 'Sterner'"):
        acme.Sterner  # noqa: B018 - looking is the test


def test_a_misspelt_name_is_suggested():
    with pytest.raises(AttributeError, match="no attribute 'evalute'; did you mean 'evaluate'"):
        judgekit.evalute  # noqa: B018
