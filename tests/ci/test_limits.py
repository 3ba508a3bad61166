"""Names that GitHub takes."""

from __future__ import annotations

from ci_eval.ci import limits


def test_names_that_were_fine_stay_as_they_are() -> None:
    assert limits.name("python-jedi-basic") == "python-jedi-basic"
    assert limits.name("C_sharp.1-jedi-basic") == "c_sharp.1-jedi-basic"
