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


@pytest.mark.parametrize("both", [False, True])
def test_of_two_settings_those_are_taken_that_cargo_takes(
    both: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "cargo", f'echo "$2" > "{tmp_path}/asked"; {BRINGS}')
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    for name in ("config", "config.toml") if both else ("config.toml",):
        (tmp_path / name).touch()
    crate("a==1.0.0", tmp_path / "out")
    assert (tmp_path / "asked").read_text() == f"{tmp_path}/{'config' if both else 'config.toml'}\n"


@pytest.mark.parametrize("name", ["credentials", "credentials.toml"])
def test_the_keys_of_private_registries_reach_cargo_and_stay_where_they_are(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "cargo", f'cat "$CARGO_HOME/{name}" > "{tmp_path}/read"; {BRINGS}')
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    (tmp_path / name).write_text("[registry]\n")
    crate("a==1.0.0", tmp_path / "out")
    assert (tmp_path / "read").read_text() == (tmp_path / name).read_text() == "[registry]\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a-1.0.0.crate"]


@pytest.mark.needs("cargo")
@pytest.mark.parametrize("key", ["rustc", "rustc-wrapper", "rustc-workspace-wrapper"])
@pytest.mark.parametrize("name", ["config", "config.toml"])
def test_settings_that_others_left_above_the_temporary_folder_run_nothing(
    key: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "planted"
    planted.write_text(f'#!/bin/sh\ntouch "{tmp_path}/ran"\nexec "$@"\n')
    planted.chmod(0o755)
    (tmp_path / ".cargo").mkdir()
    (tmp_path / ".cargo" / name).write_text(f'[build]\n{key} = "{planted}"\n')
    monkeypatch.setenv("CARGO_NET_OFFLINE", "true")
    with pytest.raises(InstallError, match="cargo failed"):
        crate("a==1.0.0", tmp_path / "out")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["Cargo.toml", "rust-toolchain", "rust-toolchain.toml"])
def test_no_file_above_the_temporary_folder_is_cargos(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_text("broken")
    client(tmp_path, monkeypatch, "cargo", f'pwd > "{tmp_path}/folder"; {BRINGS}')
    crate("a==1.0.0", tmp_path / "out")
    folder = Path((tmp_path / "folder").read_text().rstrip("\n"))
    assert not any((above / name).exists() for above in (folder, *folder.parents))


def test_the_error_of_cargo_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "cargo", "echo 'error: could not find `a`' >&2; exit 101")
    with pytest.raises(InstallError, match="could not find `a`"):
        crate("a==1.0.0", tmp_path)


def test_an_archive_that_is_not_brought_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "cargo", "exit 0")
    with pytest.raises(InstallError, match=r"no archive of a==1\.0\.0\. Check name and version"):
        crate("a==1.0.0", tmp_path)
