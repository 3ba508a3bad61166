"""rust-analyzer: which programs are taken for it, and what cargo runs with its environment."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ci_eval.core.base.errors import InstallError
from ci_eval.core.contracts import Surroundings
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.engines.servers import ENGINES, rust_variables
from tests.waiting import HANGS

ENGINE = ENGINES["rust-analyzer"]
PROGRAMS = ("rust-analyzer", "cargo", "rustc")


def toolchain(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a toolchain alone on PATH."""
    folder.mkdir()
    for name in PROGRAMS:
        (folder / name).write_text("#!/bin/sh\necho rust-analyzer 1.85.1\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_programs_of_rustup_are_refused_with_what_to_do(
    name: str, link: Callable[[Path, Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain(tmp_path / "bin", monkeypatch)
    (tmp_path / "bin" / name).rename(tmp_path / "bin" / "rustup")
    link(tmp_path / "bin" / "rustup", tmp_path / "bin" / name)
    with pytest.raises(InstallError, match=r'is rustup, .* PATH="\$\(rustc --print sysroot\)/bin:\$PATH"'):
        ENGINE.install(None, tmp_path / "cache")


def test_programs_of_a_toolchain_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain(tmp_path / "bin", monkeypatch)
    # rustup beside them is another program.
    (tmp_path / "bin" / "rustup").touch()
    installed = ENGINE.install(None, tmp_path / "cache")
    assert (installed.info.version, installed.folder) == ("1.85.1", tmp_path / "bin")


def test_what_is_missing_is_installed_and_put_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InstallError, match=r'rust-src, then PATH="\$\(rustc --print sysroot\)/bin:\$PATH"'):
        ENGINE.install(None, tmp_path / "cache")


@pytest.mark.needs("cargo")
@pytest.mark.parametrize("key", ["rustc-wrapper", "rustc-workspace-wrapper"])
def test_cargo_starts_the_compiler_by_no_wrapper_of_the_project(key: str, tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n')
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").touch()
    planted = tmp_path / "planted"
    planted.write_text(f'#!/bin/sh\ntouch "{tmp_path}/ran"\nexec "$@"\n')
    planted.chmod(0o755)
    (tmp_path / ".cargo").mkdir()
    (tmp_path / ".cargo" / "config.toml").write_text(f'[build]\n{key} = "{planted}"\n')
    surroundings = Surroundings(
        root=tmp_path, language="rust", keywords=frozenset(), cache=tmp_path, timeout=HANGS, memory=0
    )
    place = Place(folder=tmp_path, root=tmp_path, base=tmp_path, surroundings=surroundings)
    # rust-analyzer asks so for the flags that the compiler sets.
    argv = ["cargo", "rustc", "-Z", "unstable-options", "--print", "cfg"]
    environment = {**os.environ, **rust_variables(place), "RUSTC_BOOTSTRAP": "1"}
    done = subprocess.run(
        argv, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True, timeout=HANGS
    )
    assert done.returncode == 0, done.stderr
    assert "unix" in done.stdout
    assert not (tmp_path / "ran").exists()
