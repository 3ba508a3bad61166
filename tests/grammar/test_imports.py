"""What a file imports, and whether that is there."""

from __future__ import annotations

from pathlib import Path

from tests.grammar.imports.there import shares


def test_what_is_no_name_of_a_file_is_not_there(tmp_path: Path) -> None:
    long = "x" * 5000
    assert shares("cpp", tmp_path, "a.cc", f'#include "{long}.h"\n#include "a\0b"\n') == [False, False]
    assert shares("python", tmp_path, "a.py", f"import {long}\n") == [False]
    assert shares("javascript", tmp_path, "a.js", f"import './{long}'; import '{long}'\n") == [False, False]
