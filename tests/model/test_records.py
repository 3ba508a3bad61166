"""A record says how its tests are run, and cannot name a place that is not its own."""

from __future__ import annotations

import msgspec
import pytest

from ci_eval.core.model import Runnable
from ci_eval.core.model.records import check_path

GOOD = {
    "files": {"a.py": "def f(): pass", "t.py": ""},
    "focal": {"path": "a.py", "begin": 0, "end": 13},
    "test": {"path": "t.py", "begin": 0, "end": 0},
}


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../../x", "a\\b", "", ".", "a/", "a\0b"])
def test_a_path_stays_below_its_folder(path: str) -> None:
    with pytest.raises(ValueError, match="is not the path of a file"):
        check_path(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"files": {"t.py": ""}}, "run.files has no a.py"),
        ({"files": {"a.py": "", "t.py": ""}}, "a.py has 0 characters"),
        ({"test": {"path": "a.py", "begin": 0, "end": 0}}, "separate files"),
        ({"focal": {"path": "a.py", "begin": 3, "end": 1}}, "the end 1 is before the begin 3"),
        ({"project": "path:/home"}, "a SPEC of one of pypi, npm, maven, go, debian"),
        ({"files": {"../b": ""}}, "is not the path of a file"),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_reason(change: dict[str, object], said: str) -> None:
    assert msgspec.convert(GOOD, Runnable).focal.end == 13
    with pytest.raises(msgspec.ValidationError, match=said):
        msgspec.convert(GOOD | change, Runnable)
