"""Crates: which are taken, how cargo is asked, and what is said of its errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.core.fetch.crates import check_crate, crate
from tests.fetch.standins import client

BRINGS = 'mkdir -p "$CARGO_HOME/registry/cache/index"; echo archive > "$CARGO_HOME/registry/cache/index/a-1.0.0.crate"'


@pytest.mark.parametrize(
    "text",
    ["a", "a==1", "a==1.0", "a==*", "a==^1.0.0", "a@1.0.0", "-a==1.0.0", "../a==1.0.0", "a==1.0.0 -x", "a==1.0.0\n"],
)
def test_a_crate_must_be_one_full_version(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"NAME==VERSION.*serde_json==1\.0\.118"):
        crate(text, tmp_path)


@pytest.mark.parametrize("text", ["serde_json==1.0.118", "a-b==0.1.0-rc.1", "openssl-src==300.3.1+3.3.1"])
def test_full_versions_are_taken(text: str) -> None:
    assert check_crate(text)["version"] == text.partition("==")[2]


def test_cargo_keeps_the_users_settings_but_not_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "cargo", f'echo "$@" > "{tmp_path}/asked"; {BRINGS}')
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").touch()
    monkeypatch.setenv("CARGO_HOME", str(home))
    assert crate("a==1.0.0", tmp_path / "out").read_text() == "archive\n"
    assert (tmp_path / "asked").read_text() == f"--config {home}/config.toml info --quiet a@1.0.0\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a-1.0.0.crate"]
    assert [path.name for path in home.iterdir()] == ["config.toml"]


def test_the_error_of_cargo_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "cargo", "echo 'error: could not find `a`' >&2; exit 101")
    with pytest.raises(InstallError, match="could not find `a`"):
        crate("a==1.0.0", tmp_path)


def test_an_archive_that_is_not_brought_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "cargo", "exit 0")
    with pytest.raises(InstallError, match=r"no archive of a==1\.0\.0\. Check name and version"):
        crate("a==1.0.0", tmp_path)
