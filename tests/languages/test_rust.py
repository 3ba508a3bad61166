"""The crates that files of Rust use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.languages.there import missing
from tests.projects import write

TEXT = """
use std::fmt;
use crate::book;
pub(crate) use core_book::Ledger;
extern crate lib_of_till;
use renamed::Till;
use shared_pen::Pen;
use patched::Page;
use book::Leaf;
use serde::Serialize;
use ::some_tool as tool;
use other::x;
use linux_only::y;
"""


def test_a_crate_is_there_if_it_is_a_path_in_the_project(tmp_path: Path) -> None:
    package = "[package]\nname = '{}'\n"
    files = {
        "Cargo__toml": "[workspace]\nmembers = ['*']\n[workspace.dependencies]\nshared-pen = { path = 'pen' }\n"
        "other = '1'\n[patch.crates-io]\npatched = { path = 'page' }\n",
        "web/Cargo__toml": package.format("web") + "[dependencies]\ncore-book = { path = '../core' }\n"
        "till = { path = '../till' }\nrenamed = { path = '../till', package = 'till' }\n"
        "shared-pen = { workspace = true }\npatched = '1'\nserde = { version = '1' }\n"
        "other = { workspace = true }\n[dev-dependencies]\nsome-tool = { path = '../../out' }\n"
        "[target.'cfg(unix)'.dependencies]\nlinux-only = '2'\n",
        "till/Cargo__toml": package.format("till") + "[lib]\nname = 'lib_of_till'\n",
        **{f"{name}/Cargo__toml": package.format(name) for name in ("core", "pen", "page")},
    }
    write(tmp_path / "out", Cargo__toml="[package]\nname = 'some-tool'\n")
    root = write(tmp_path / "p", **files)
    assert missing("rust", root, "web/src/lib.rs", TEXT) == ["serde", "some_tool", "other", "linux_only"]
    assert missing("rust", root, "other/src/lib.rs", TEXT) == []


@pytest.mark.parametrize(
    "text", ["[", "dependencies = 5\n", "[dependencies]\na = [1]\n[target]\nx = 2\n", "[patch]\na = 1\n\xff"]
)
def test_a_manifest_of_another_shape_ends_no_run(tmp_path: Path, text: str) -> None:
    assert missing("rust", write(tmp_path, Cargo__toml=text), "src/a.rs", "use b::c;\n") == []
