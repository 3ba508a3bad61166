"""Debian source packages: what apt is asked, from an archive in a folder, and how long its lists are kept."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.fetch.debian import (
    DAY,
    apt_source,
    check_debian,
    machine_sources,
    read_sources,
    source_lines,
    source_stanzas,
    unpack_components,
)
from ci_eval.fetch.project import prepare
from tests.fetch.standins import client

STANZA = "Types: deb\nURIs: https://example.org/debian\nSuites: stable stable-updates\nComponents: main\n"
SOURCE = STANZA.replace("Types: deb", "Types: deb-src")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("deb https://example.org/debian stable main", ["deb-src https://example.org/debian stable main"]),
        ("  deb\t[signed-by=/k arch=amd64] https://h s main ", ["deb-src [signed-by=/k arch=amd64] https://h s main"]),
        ("deb-src https://h s main", ["deb-src https://h s main"]),
        ("deb https://h s main # why", ["deb-src https://h s main"]),
        ("# deb https://h s main", []),
        ("#deb-src https://h s main", []),
        ("deb cdrom:[Debian 12]/ s main", []),
        ("debug https://h s", []),
        ("", []),
    ],
)
def test_lines_become_source_lines(line: str, found: list[str]) -> None:
    assert list(source_lines(line)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (STANZA, [SOURCE]),
        (STANZA.replace("deb\n", "deb deb-src\n", 1), [SOURCE]),
        (STANZA.replace(" deb\n", "\n deb\n deb-src\n", 1), [SOURCE]),
        (STANZA.replace("Types", "types"), [SOURCE]),
        (SOURCE, [SOURCE]),
        (f"\n# one\n{STANZA}\n# two\n\n \n{STANZA}", [SOURCE, SOURCE]),
        (STANZA.replace("Suites", "# http://h\nSuites"), [SOURCE]),
        (f"{STANZA}Enabled: yes\n", [f"{SOURCE}Enabled: yes\n"]),
        (f"{STANZA}Enabled: no\n", []),
        (f"{STANZA}enabled: False\n\n{STANZA}", [SOURCE]),
        (f"{STANZA}Signed-By:\n KEY\n .\n abc\n", [f"{SOURCE}Signed-By:\n KEY\n .\n abc\n"]),
        ("X-Repolib-Name: none\n", []),
        ("", []),
    ],
)
def test_stanzas_become_source_stanzas(text: str, found: list[str]) -> None:
    assert list(source_stanzas(text)) == found


def test_the_files_that_apt_reads_are_read_and_no_others(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    (tmp_path / "sources.list").write_text("deb https://a s main\n")
    (parts / "b.list").write_text("deb https://b s main\ndeb https://a s main\n")
    (parts / "c.sources").write_text(STANZA)
    for name in ("d.list.disabled", "e.sources.save", "f g.list", "h.txt"):
        (parts / name).write_text("deb https://never s main\n")
    found = read_sources(tmp_path / "sources.list", parts)
    assert found.lines == "deb-src https://a s main\ndeb-src https://b s main\n"
    assert found.stanzas == SOURCE


def test_a_machine_may_have_either_format_alone(tmp_path: Path) -> None:
    assert read_sources(tmp_path / "none", tmp_path / "nowhere").lines == ""


def test_apt_says_where_its_sources_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my list").write_text("deb https://a s main\n")
    client(
        tmp_path, monkeypatch, "apt-config", f"echo \"LIST='{tmp_path}/my list'\"; echo \"PARTS='{tmp_path}/none/'\""
    )
    assert machine_sources(tmp_path).lines == "deb-src https://a s main\n"


needs_apt = pytest.mark.needs("apt-get")


PACK: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}


def packed(name: str) -> bytes:
    """A tarball of that name, whose only file top/x holds the name."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        info = tarfile.TarInfo("top/x")
        info.size = len(name)
        tar.addfile(info, io.BytesIO(name.encode()))
    return PACK[name.rpartition(".")[2]](made.getvalue())


class Archive:
    """An archive of source packages in a folder, and an apt that is set up to take binary packages from it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.entries = folder / "archive", ""
        self.folder.mkdir()
        (folder / "my.list").write_text(f"deb [trusted=yes] copy://{self.folder} ./\n")
        (folder / "apt.conf").write_text(
            f'Dir::Etc::sourcelist "{folder}/my.list"; Dir::Etc::sourceparts "{folder}/none";\n'
            f'APT::Update::Post-Invoke {{ "touch {folder}/hook"; }}; APT::Default-Release "stable";\n'
        )
        monkeypatch.setenv("APT_CONFIG", str(folder / "apt.conf"))

    def add(self, name: str, version: str, *tarballs: str) -> None:
        """Offer one more package."""
        for tarball in tarballs:
            (self.folder / tarball).write_bytes(packed(tarball))
        files = [(self.folder / tarball).read_bytes() for tarball in tarballs]
        sums = [
            f" {hashlib.sha256(file).hexdigest()} {len(file)} {tarball}\n"
            for file, tarball in zip(files, tarballs, strict=True)
        ]
        self.entries += f"Package: {name}\nVersion: {version}\nBinary: binary\nDirectory: .\nChecksums-Sha256:\n"
        self.entries += f"{''.join(sums)}\n"
        (self.folder / "Sources").write_text(self.entries)


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    made = Archive(tmp_path, monkeypatch)
    made.add("foo", "1.0-1", "foo_1.0.orig.tar.xz", "foo_1.0-1.debian.tar.xz")
    return made


def fetch(tmp_path: Path, package: str) -> Path:
    folder = tmp_path / f"got-{len(os.listdir(tmp_path))}"  # noqa: PTH208 - a name that is free
    folder.mkdir()
    return apt_source(package, folder, tmp_path / "cache").upstream


@pytest.mark.parametrize(
    "text",
    ["foo", "foo=", "foo/stable", "Foo=1", "-foo=1", "foo=-1", "foo=a", "foo==1", "foo=1 -x", "foo=1\n", "./foo=1",
     "foo=1=2", "f=1", "foo:amd64=1", "foo=1:"],
)  # fmt: skip
def test_a_source_package_must_be_one_exact_version(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"SOURCE=VERSION.*fmtlib=9\.1\.0\+ds1-2"):
        apt_source(text, tmp_path, tmp_path)


@pytest.mark.parametrize(
    "text", ["fmtlib=9.1.0+ds1-2", "g++-12=1:12~rc1-1", "php-twig=3.5.1-1+deb12u3", "0ad=0.0.26-3"]
)
def test_exact_source_packages_are_taken(text: str) -> None:
    assert check_debian(text)["version"] == text.partition("=")[2]


@needs_apt
def test_the_upstream_tarball_comes_without_the_patches(archive: Archive, tmp_path: Path) -> None:
    found = fetch(tmp_path, "foo=1.0-1")
    assert found.read_bytes() == (archive.folder / "foo_1.0.orig.tar.xz").read_bytes()
    assert [path.name for path in found.parent.iterdir()] == ["foo_1.0.orig.tar.xz"]


@needs_apt
def test_a_native_package_is_its_only_tarball(archive: Archive, tmp_path: Path) -> None:
    archive.add("bar", "2.0", "bar_2.0.tar.gz")
    assert fetch(tmp_path, "bar=2.0").name == "bar_2.0.tar.gz"


@needs_apt
def test_the_root_is_the_top_folder_and_components_are_below_it(archive: Archive, tmp_path: Path) -> None:
    archive.add("baz", "1-1", "baz_1.orig.tar.gz", "baz_1.orig-docs-a.tar.bz2", "baz_1-1.debian.tar.xz")
    project = prepare("debian:baz=1-1", cache=tmp_path / "cache")
    assert sorted(path.relative_to(project.root).as_posix() for path in project.root.rglob("*")) == [
        "docs-a", "docs-a/x", "x",
    ]  # fmt: skip
    assert (project.root / "docs-a/x").read_text() == "baz_1.orig-docs-a.tar.bz2"
    assert (project.info.name, project.info.revision) == ("baz", "1-1")


@needs_apt
def test_a_component_takes_the_place_of_what_upstream_has_there(archive: Archive, tmp_path: Path) -> None:
    archive.add("baz", "1-1", "baz_1.orig.tar.gz", "baz_1.orig-docs.tar.gz")
    (tmp_path / "got").mkdir()
    tarballs = apt_source("baz=1-1", tmp_path / "got", tmp_path / "cache")
    root = tmp_path / "root"
    (root / "docs").mkdir(parents=True)
    (root / "docs/old").touch()
    unpack_components(tarballs, root)
    assert [path.name for path in (root / "docs").iterdir()] == ["x"]


@needs_apt
def test_a_tarball_that_is_not_the_listed_one_is_refused(archive: Archive, tmp_path: Path) -> None:
    (archive.folder / "foo_1.0.orig.tar.xz").write_bytes(b"x" * 200)
    with pytest.raises(InstallError, match="apt-get failed"):
        fetch(tmp_path, "foo=1.0-1")


@needs_apt
def test_lists_are_kept_and_the_machines_hooks_not_run(archive: Archive, tmp_path: Path) -> None:
    fetch(tmp_path, "foo=1.0-1")
    before = (tmp_path / "cache/apt/apt.conf").stat().st_ino
    fetch(tmp_path, "foo=1.0-1")
    assert (tmp_path / "cache/apt/apt.conf").stat().st_ino == before
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["apt"]
    assert not (tmp_path / "hook").exists()


@needs_apt
def test_a_version_that_is_not_in_the_lists_is_looked_up_anew(archive: Archive, tmp_path: Path) -> None:
    fetch(tmp_path, "foo=1.0-1")
    archive.add("foo", "1.1-1", "foo_1.1.orig.tar.xz")
    assert fetch(tmp_path, "foo=1.1-1").name == "foo_1.1.orig.tar.xz"


@needs_apt
@pytest.mark.parametrize("age", [DAY + 60, -60])
def test_old_lists_are_fetched_anew(age: float, archive: Archive, tmp_path: Path) -> None:
    fetch(tmp_path, "foo=1.0-1")
    conf = tmp_path / "cache/apt/apt.conf"
    made = conf.stat()
    os.utime(conf, (made.st_atime - age, made.st_mtime - age))
    fetch(tmp_path, "foo=1.0-1")
    assert conf.stat().st_ino != made.st_ino


@needs_apt
def test_other_sources_of_the_machine_mean_other_lists(archive: Archive, tmp_path: Path) -> None:
    fetch(tmp_path, "foo=1.0-1")
    made = (tmp_path / "cache/apt/apt.conf").stat()
    (tmp_path / "my.list").write_text(f"deb [trusted=yes] file://{archive.folder} ./\n")
    fetch(tmp_path, "foo=1.0-1")
    assert (tmp_path / "cache/apt/apt.conf").stat().st_ino != made.st_ino


@needs_apt
def test_an_unknown_version_is_answered_with_the_known_ones(archive: Archive, tmp_path: Path) -> None:
    archive.add("foo", "1.1-1", "foo_1.1.orig.tar.xz")
    with pytest.raises(InstallError, match=r"have foo in 1\.\d-1, 1\.\d-1, not 9-9"):
        fetch(tmp_path, "foo=9-9")
    with pytest.raises(InstallError, match=r"no source package nosuch\."):
        fetch(tmp_path, "nosuch=1")


@needs_apt
def test_the_name_of_a_binary_package_is_no_source(archive: Archive, tmp_path: Path) -> None:
    with pytest.raises(InstallError, match="no source package"):
        fetch(tmp_path, "binary=1.0-1")


@needs_apt
def test_a_source_that_cannot_be_reached_does_not_hide_the_others(archive: Archive, tmp_path: Path) -> None:
    (tmp_path / "my.list").write_text(f"{(tmp_path / 'my.list').read_text()}deb copy://{tmp_path}/nowhere ./\n")
    assert fetch(tmp_path, "foo=1.0-1").name == "foo_1.0.orig.tar.xz"
    with pytest.raises(InstallError, match=r"have foo in 1\.0-1(.|\n)*not complete(.|\n)*nowhere"):
        fetch(tmp_path, "foo=1.1-1")


@needs_apt
def test_without_any_list_it_is_told_why(archive: Archive, tmp_path: Path) -> None:
    (tmp_path / "my.list").write_text(f"deb copy://{tmp_path}/nowhere ./\n")
    with pytest.raises(InstallError, match=r"nowhere(.|\n)*Check the network"):
        fetch(tmp_path, "foo=1.0-1")
    assert list((tmp_path / "cache").iterdir()) == []


@needs_apt
def test_a_machine_without_sources_is_told(archive: Archive, tmp_path: Path) -> None:
    (tmp_path / "my.list").write_text("")
    with pytest.raises(InstallError, match="apt-get has no sources"):
        fetch(tmp_path, "foo=1.0-1")


@needs_apt
@pytest.mark.registry
def test_apt_brings_a_real_source_package(tmp_path: Path) -> None:
    assert fetch(tmp_path, "fmtlib=9.1.0+ds1-2").name == "fmtlib_9.1.0+ds1.orig.tar.gz"
