"""pip and npm: what is asked of them, and what is told when they refuse."""

from __future__ import annotations

import importlib.util
import os
import zipfile
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.core.fetch.packages import (
    check_npm,
    check_requirement,
    list_distributions,
    npm_pack,
    pip_download,
    pip_install,
)
from ci_eval.core.fetch.project import prepare
from tests.fetch.standins import client


def wheel(folder: Path, name: str = "tiny", version: str = "1.0", needs: str = "") -> Path:
    """A wheel made by hand."""
    info = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + (
        f"Requires-Dist: {needs}\n" * bool(needs)
    )
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr(f"{name}.py", "x = 1\n")
        bundle.writestr(f"{info}/METADATA", metadata)
        bundle.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        bundle.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for its only source of packages."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.mark.parametrize(
    "text",
    ["six>=1", "six==", "six==1.*", "six===1", "-r==1", "six==1 ", "six==1; x", "six @ file:///x", "a b==1",
     "-e", "six==1\n", "six==-1", "./six==1", "six==1 --index-url=x", "--six==1"],
)  # fmt: skip
def test_a_requirement_must_be_one_exact_version(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="NAME==VERSION"):
        pip_download(text, tmp_path)
    with pytest.raises(ConfigError, match="NAME==VERSION"):
        pip_install([text], tmp_path)


@pytest.mark.parametrize("text", ["six==1.16.0", "a==1!2.0rc1.post1.dev2+local.1", "python-lsp-server[all]==1.0"])
def test_exact_requirements_are_taken(text: str) -> None:
    assert check_requirement(text)["version"] == text.partition("==")[2]


@pytest.mark.parametrize(
    "text",
    ["is-number@latest", "is-number@^7.0.0", "-g@1.0.0", "../x@1.0.0", "a/b@1.0.0", "@a@1.0.0",
     "@a/-b@1.0.0", "file:x@1.0.0", "a@1.0.0 b", "a@1.0.0\n", "a@npm:b@1.0.0", "https://x/y.tgz", "a@1"],
)  # fmt: skip
def test_an_npm_package_must_be_one_exact_version(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="NAME@VERSION"):
        npm_pack(text, tmp_path)


@pytest.mark.parametrize("text", ["is-number@7.0.0", "@types/node@20.1.0", "JSONStream@1.3.5", "a@1.0.0-rc.1+b2"])
def test_exact_npm_packages_are_taken(text: str) -> None:
    assert check_npm(text)["version"] == text.rpartition("@")[2]


def test_a_package_to_install_must_have_a_version(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="NAME==VERSION"):
        pip_install(["six"], tmp_path)


def test_a_name_alone_is_its_newest_version_which_the_spec_then_names(index: Path, tmp_path: Path) -> None:
    for version in ("1.9", "1.10", "2.0rc1"):
        wheel(index, version=version)
    info = prepare("pypi:tiny", cache=tmp_path / "cache").info
    assert info.spec.startswith("pypi:tiny==1.10#sha256=")
    assert info.revision == "1.10"
    wheel(index, version="1.11")
    assert prepare("pypi:tiny", cache=tmp_path / "cache").info.revision == "1.11"
    assert prepare(info.spec, cache=tmp_path / "cache").info == info


def test_the_wheel_lands_in_the_folder_and_nothing_else(index: Path, tmp_path: Path) -> None:
    made = wheel(index, needs="other")
    found = pip_download("tiny==1.0", tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == [found]
    assert found.read_bytes() == made.read_bytes()


def test_a_release_without_a_wheel_is_not_built(index: Path, tmp_path: Path) -> None:
    (index / "tiny-1.0.tar.gz").touch()
    with pytest.raises(InstallError, match="nothing is built"):
        pip_download("tiny==1.0", tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_installing_tells_name_and_version_of_everything(index: Path, tmp_path: Path) -> None:
    wheel(index, needs="other")
    wheel(index, "other", "2.5")
    assert pip_install(["tiny==1.0"], tmp_path / "out") == {"other": "2.5", "tiny": "1.0"}
    assert list_distributions(tmp_path / "out") == {"other": "2.5", "tiny": "1.0"}
    assert (tmp_path / "out/tiny.py").is_file()


def test_a_file_named_pip_in_the_current_folder_is_not_run(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    wheel(index)
    assert pip_download("tiny==1.0", Path("out")) == Path("out/tiny-1.0-py3-none-any.whl")


def test_a_missing_pip_is_told_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InstallError, match="uv pip install pip"):
        pip_download("tiny==1.0", tmp_path)


def test_a_missing_npm_is_told_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InstallError, match=r"npm is not installed. Install Node\.js"):
        npm_pack("is-number@7.0.0", tmp_path)


def test_npm_may_run_no_script_and_reads_no_option_from_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "npm", 'echo "$@" > is-number-7.0.0.tgz')
    packed = npm_pack("is-number@7.0.0", tmp_path / "out")
    assert packed == tmp_path / "out/is-number-7.0.0.tgz"
    assert packed.read_text() == "pack --ignore-scripts -- is-number@7.0.0\n"


def test_a_client_that_brings_nothing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "npm", "true")
    with pytest.raises(InstallError, match="brought no tarball"):
        npm_pack("is-number@7.0.0", tmp_path / "out")


@pytest.mark.registry
def test_pip_brings_a_real_wheel(tmp_path: Path) -> None:
    assert pip_download("six==1.16.0", tmp_path).name == "six-1.16.0-py2.py3-none-any.whl"


@pytest.mark.registry
def test_pip_installs_a_real_package(tmp_path: Path) -> None:
    assert pip_install(["six==1.16.0"], tmp_path) == {"six": "1.16.0"}


@pytest.mark.needs("npm")
@pytest.mark.registry
def test_npm_brings_a_real_package(tmp_path: Path) -> None:
    assert npm_pack("is-number@7.0.0", tmp_path).name == "is-number-7.0.0.tgz"
