"""Go modules: which are taken, how go is asked, and what is told of its errors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.core.fetch.gomodules import check_module, module_zip
from tests.fetch.standins import client

NEWER = "example.org/m@v1.0.0 requires go >= 1.99 (running go 1.26; GOTOOLCHAIN=local)"
BRINGS = 'mkdir cache; echo zip > cache/v.zip; echo "{\\"Zip\\": \\"$PWD/cache/v.zip\\"%s}"; exit %d'


@pytest.mark.parametrize(
    "text",
    ["example.org/m", "example.org/m@latest", "example.org/m@v1", "example.org/m@main", "example.org/m@1.0.0",
     "fmt@v1.0.0", "-x.org/m@v1.0.0", "example.org/../m@v1.0.0", "./m@v1.0.0", "example.org/-m@v1.0.0",
     "example.org//m@v1.0.0", "example.org/m@v1.0.0 -x", "example.org/m@v1.0.0\n",
     "https://example.org/m@v1.0.0", "example.org/m@v1.0.0+meta"],
)  # fmt: skip
def test_a_module_must_be_one_exact_version(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"MODULE@VERSION.*cobra@v1\.8\.1"):
        module_zip(text, tmp_path)


@pytest.mark.parametrize(
    "text",
    ["github.com/BurntSushi/toml@v1.4.0", "gopkg.in/yaml.v3@v3.0.1",
     "golang.org/x/exp@v0.0.0-20240101000000-0123456789ab",
     "github.com/a/b_c/v2@v2.0.0-rc.1", "github.com/a/b@v3.0.0+incompatible", "go.uber.org/zap@v1.27.0"],
)  # fmt: skip
def test_exact_modules_are_taken(text: str) -> None:
    assert check_module(text)["version"] == text.rpartition("@")[2]


def test_go_keeps_the_users_settings_but_not_its_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f'env > "{tmp_path}/env"; echo "$@" > "{tmp_path}/asked"; {BRINGS % ("", 0)}'
    client(tmp_path, monkeypatch, "go", script)
    monkeypatch.setenv("GOPROXY", "file:///mine")
    monkeypatch.setenv("GOFLAGS", "-insecure")
    assert module_zip("example.org/m@v1.0.0", tmp_path / "out").read_text() == "zip\n"
    given = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines() if line.startswith("GO"))
    assert (given["GOPROXY"], given["GOTOOLCHAIN"], given["GOWORK"]) == ("file:///mine", "local", "off")
    assert given["GOFLAGS"] == "-mod=mod -modcacherw"
    assert Path(given["GOMODCACHE"]).parent.parent == (tmp_path / "out").resolve()
    assert (tmp_path / "asked").read_text() == "mod download -json -- example.org/m@v1.0.0\n"


def test_nothing_but_the_zip_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "go", BRINGS % ("", 0))
    module_zip("example.org/m@v1.0.0", tmp_path / "out")
    assert os.listdir(tmp_path / "out") == ["module.zip"]  # noqa: PTH208 - hidden ones too


def test_the_error_that_go_prints_as_json_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(
        tmp_path, monkeypatch, "go", """echo '{"Error": "unknown revision v1.0.0 at https://me:secret@h/"}'; exit 1"""
    )
    with pytest.raises(InstallError, match=r"unknown revision v1\.0\.0 at https://h/\n.*GOPROXY"):
        module_zip("example.org/m@v1.0.0", tmp_path)


def test_what_go_says_elsewhere_is_shown_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "go", "echo 'go: no home' >&2; exit 2")
    with pytest.raises(InstallError, match="no home"):
        module_zip("example.org/m@v1.0.0", tmp_path)


def test_a_module_that_asks_for_a_newer_go_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "go", BRINGS % (f', \\"Error\\": \\"{NEWER}\\"', 1))
    assert module_zip("example.org/m@v1.0.0", tmp_path / "out").read_text() == "zip\n"


def test_a_zip_whose_sum_is_wrong_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "go", BRINGS % (', \\"Error\\": \\"checksum mismatch\\"', 1))
    with pytest.raises(InstallError, match="checksum mismatch"):
        module_zip("example.org/m@v1.0.0", tmp_path)


@pytest.mark.needs("go")
@pytest.mark.registry
def test_go_brings_a_real_module(tmp_path: Path) -> None:
    assert module_zip("github.com/spf13/cobra@v1.8.1", tmp_path).stat().st_size > 100_000


@pytest.mark.needs("go")
@pytest.mark.registry
def test_a_version_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match=r"cobra@v1\.8\.999:(.|\n)*GOPROXY"):
        module_zip("github.com/spf13/cobra@v1.8.999", tmp_path)
