"""Installing engines: whole or not at all, once, from stand-ins that speak what the registries speak."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ChecksumError, ConfigError, InstallError
from ci_eval.plugins.adapters import recipes
from ci_eval.plugins.adapters.recipes import Archive, Go, Npm, Pip, once
from tests.fetch.standins import client
from tests.loopback import sends, serve


def packed(name: str, body: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        member = tarfile.TarInfo(name)
        member.size = len(body)
        tar.addfile(member, io.BytesIO(body))
    return buffer.getvalue()


def test_a_pinned_archive_is_unpacked_once(tmp_path: Path) -> None:
    body = packed("bin/server", b"program")
    with serve(sends(body)) as web:
        recipe = Archive(url=web.url("/server-{version}.tar.gz"), digests={"1.2": hashlib.sha256(body).hexdigest()})
        made = recipe.make(None, tmp_path / "engines")
        assert recipe.make("1.2", tmp_path / "engines") == made
    assert (made.folder / "files" / "bin" / "server").read_bytes() == b"program"
    assert made.version == "1.2"
    assert web.asked == ["/server-1.2.tar.gz"]


def test_a_single_file_stays_as_it_is(tmp_path: Path) -> None:
    with serve(sends(b"<?php")) as web:
        recipe = Archive(url=web.url("/server.phar"), digests={"1": hashlib.sha256(b"<?php").hexdigest()})
        assert (recipe.make(None, tmp_path / "engines").folder / "server.phar").read_bytes() == b"<?php"


def test_another_file_than_the_pinned_one_is_not_installed(tmp_path: Path) -> None:
    with serve(sends(b"evil")) as web:
        recipe = Archive(url=web.url("/server.phar"), digests={"1": "0" * 64})
        with pytest.raises(ChecksumError):
            recipe.make(None, tmp_path / "engines")
        with pytest.raises(ConfigError, match=r"does not know the SHA-256 of .*command"):
            recipe.make("2", tmp_path / "engines")
    assert [path for path in (tmp_path / "engines").iterdir() if not path.name.startswith(".")] == []


def test_what_failed_half_way_leaves_nothing(tmp_path: Path) -> None:
    def install(folder: Path) -> dict[str, str]:
        (folder / "half").write_text("")
        raise InstallError("no network")

    with pytest.raises(InstallError, match="no network"):
        once(tmp_path / "x", "1", install)
    assert not (tmp_path / "x").exists()
    assert once(tmp_path / "x", "1", lambda _: {"a": "1"}).packages == {"a": "1"}


def test_who_is_overtaken_uses_what_the_other_installed(tmp_path: Path) -> None:
    def install(folder: Path) -> dict[str, str]:
        once(tmp_path / "x", "1", lambda other: {"first": str((other / "file").write_text("first"))})
        (folder / "file").write_text("second")
        return {"second": "2"}

    made = once(tmp_path / "x", "1", install)
    assert (tmp_path / "x" / "file").read_text() == "first"
    assert once(tmp_path / "x", "1", install).packages == {"first": "5"}
    assert made.folder == tmp_path / "x"


def test_a_truncated_file_of_an_engine_is_noticed_and_installed_again(tmp_path: Path) -> None:
    def install(folder: Path) -> dict[str, str]:
        (folder / "server").write_text("program")
        return {"a": "1"}

    made = once(tmp_path / "x", "1", install)
    os.truncate(made.folder / "server", 3)
    with pytest.warns(match="x in the cache is damaged: server changed; it is made again"):
        assert once(tmp_path / "x", "1", install) == made
    assert (made.folder / "server").read_text() == "program"


def test_a_full_disk_is_told_with_what_to_do(tmp_path: Path) -> None:
    def install(folder: Path) -> dict[str, str]:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(InstallError, match=r"Cannot write .*No space left on device\. Is the cache writable, the disk"):
        once(tmp_path / "x", "1", install)


@pytest.mark.registry
def test_two_processes_install_into_one_cache_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from ci_eval.plugins.adapters.recipes import Pip; "
        "print(Pip(package='six', version='1.16.0').make(None, Path(sys.argv[1])).packages)"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [run.communicate(timeout=120)[0].strip() for run in runs] == ["{'six': '1.16.0'}"] * 2
    assert [run.returncode for run in runs] == [0, 0]
    assert [path.name.partition("-py")[0] for path in tmp_path.iterdir()] == ["six-1.16.0"]
    (folder,) = tmp_path.iterdir()
    environment = {**os.environ, "PIP_INDEX_URL": "http://127.0.0.1:9/"}
    offline = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment, timeout=60, check=True)
    assert offline.returncode == 0
    assert Pip(package="six", version="1.16.0").make(None, tmp_path).folder == folder


def test_each_registry_is_asked_for_the_newest_version_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "npm", 'case "$*" in *view*" pyright version "*) echo \'"1.2.3"\';; *) exit 1;; esac')
    client(tmp_path, monkeypatch, "go", 'case "$*" in *"example.com/tool@latest") echo v0.9.1;; *) exit 1;; esac')
    assert Npm(package="pyright", version="1").newest() == "1.2.3"
    assert Go(module="example.com/tool", version="v0").newest() == "v0.9.1"
    monkeypatch.setattr(recipes, "pip_download", lambda name, folder: folder / f"{name}-4.5-py3-none-any.whl")
    assert Pip(package="ty", version="0").newest() == "4.5"
