"""A stream whose lines are made harmless before anybody sees them."""

from __future__ import annotations

import io

from ci_eval.ci.host import Guarded


def test_a_line_is_passed_on_once_it_is_complete_and_harmless() -> None:
    out = io.StringIO()
    guarded = Guarded(out, lambda line: line.replace("::", ".."))
    for piece in (":", ":error", ":", ":x\r", "\nnext", " line"):
        guarded.write(piece)
    assert out.getvalue() == "..error..x\r\n"
    guarded.close()
    assert out.getvalue() == "..error..x\r\nnext line"
