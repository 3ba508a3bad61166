"""Imports of Go."""

from __future__ import annotations

from pathlib import Path

from tests.grammar.imports.there import shares
from tests.projects import write


def test_a_package_of_go_is_in_a_module_that_is_there(tmp_path: Path) -> None:
    root = write(tmp_path / "p", **{"go__mod": "module example__com/me\n".replace("__", "."), "sub/a__go": ""})
    write(tmp_path / "e" / "modules" / "github.com" / "!burnt!sushi" / "toml@v1.0.0", **{"internal/a__go": ""})
    block = (
        '"fmt"\n\tx "example.com/me/sub"\n\t. "github.com/BurntSushi/toml"\n\t"github.com/BurntSushi/toml/internal"\n'
    )
    assert shares("go", root, "a.go", f'import "C"\nimport (\n\t{block})\n', tmp_path / "e") == [True] * 5
    wrong = 'import (\n"example.com/me/none"\n"github.com/x/y"\n"github.com/BurntSushi/toml/none")\n'
    assert shares("go", root, "a.go", wrong, tmp_path / "e") == [False] * 3
