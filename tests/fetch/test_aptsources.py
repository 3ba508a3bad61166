"""A machine's apt sources, in both formats, as places of source packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.fetch.aptsources import machine_sources, read_sources, source_lines, source_stanzas
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
