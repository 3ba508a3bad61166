"""Which IDE is meant, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import CiEvalError, ConfigError
from ci_eval.plugins.adapters.ide.installation import find
from ci_eval.plugins.adapters.ide.options import IdeOptions
from tests.adapters.ide.stand_in import BUILD, make


def test_an_ide_says_what_it_is(tmp_path: Path) -> None:
    folder = make(tmp_path / "ide")
    found = find(IdeOptions(ide=str(folder)), tmp_path / "cache")
    assert (found.build, found.launcher, found.variables) == (BUILD, folder / "bin/idea.sh", "IDEA")
    assert found.plugin is None


def test_what_is_no_ide_is_refused(tmp_path: Path) -> None:
    def refused(said: str, ide: str = "", plugin: str = "") -> None:
        with pytest.raises(CiEvalError, match=said):
            find(IdeOptions(ide=ide, plugin=plugin), tmp_path / "cache")

    refused("needs an IDE")
    refused("neither a folder nor an archive", ide=str(tmp_path / "none"))
    refused("has no product-info.json", ide=str(tmp_path))
    refused("add its SHA-256 as `engine.options.sha256`", ide="https://example.org/ide.tar.gz")
    folder = make(tmp_path / "ide")
    refused("add its SHA-256 as `engine.options.pluginSha256`", ide=str(folder), plugin="https://example.org/p.zip")
    (folder / "bin/idea.sh").unlink()
    refused("has no launcher for Linux", ide=str(folder))
    (folder / "product-info.json").write_text("{")
    refused("is damaged", ide=str(folder))


def test_options_are_checked() -> None:
    assert IdeOptions.read({"ide": "/x", "idle": 5}).idle == 5
    for wrong, said in (
        ({"ide": 1}, "Expected `str`"),
        ({"x": 1}, "known are ide"),
        ({"idle": 0}, "number of seconds"),
    ):
        with pytest.raises(ConfigError, match=said):
            IdeOptions.read(wrong)
    with pytest.raises(ConfigError, match="64"):
        IdeOptions.read({"sha256": "abc"})
