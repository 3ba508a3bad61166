"""The output of `go test`, read line by line, whatever tests print among it."""

from __future__ import annotations

from typing import cast

import pytest

from ci_eval.plugins.adapters.testruns.contract import Ended, Work
from ci_eval.plugins.adapters.testruns.languages.go import read

RUN = '{"Action":"run","Test":"TestPrice"}\n'
PASS = '{"Action":"pass","Test":"TestPrice"}\n{"Action":"pass"}\n'


@pytest.mark.parametrize("printed", ["half a li", '{"x": ' + "[" * 100_000 + "]" * 100_000 + "}", "[]", "null"])
def test_lines_that_are_no_events_are_passed_over(printed: str) -> None:
    ended = Ended(code=0, output=f"{RUN}{printed}\n{PASS}", trouble="")
    # Go's reports tell everything by themselves.
    assert read(cast("Work", None), ended).passes
