"""The former module of redaction, which users imported by its documented name."""

import pytest

from judgekit.privacy import redact


@pytest.mark.parametrize("name", ["redact_case", "redactor"])
def test_the_documented_names_still_work_and_warn(name):
    from judgekit.cassette import redact as former

    with pytest.warns(DeprecationWarning, match=rf"import {name} from judgekit\.privacy\.redact"):
        assert getattr(former, name) is getattr(redact, name)


def test_other_names_are_unknown():
    from judgekit.cassette import redact as former

    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = former.other
