"""Servers whose peculiarities are declared."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.contracts import Query
from ci_eval.plugins.adapters.lsp.quirks import ServerQuirks
from tests.adapters.lsp.conftest import TEXT, Start, ask
from tests.projects import write


def test_a_file_gets_a_server_of_its_own_where_the_last_one_would_show(start: Start) -> None:
    for anew in (True, False):
        server = start("remembers", quirks=ServerQuirks(restarts=anew))
        server.open("a.py", "one ")
        ask(server)
        server.open("b.py", "two ")
        assert ("one" in ask(server)) != anew


def test_the_kinds_of_a_server_that_is_not_sure_of_them_are_not_kept(start: Start) -> None:
    for kinds in (True, False):
        server = start(quirks=ServerQuirks(kinds=kinds))
        server.open("a.py", "one ")
        answer = server.complete(Query(offset=0, prefix="", expected=""))
        assert {found.kind for found in answer.suggestions} == ({"variable"} if kinds else {""})


def test_a_serial_server_is_asked_once_it_is_done_with_the_edits(start: Start) -> None:
    server = start("parses", quirks=ServerQuirks(serial=True))
    server.open("a.py", "one ")
    server.edit([(4, 0, "two")])
    assert ask(server) == ["one", "two"]


def test_work_that_will_be_announced_is_waited_for(start: Start) -> None:
    server = start("indexes-late", quirks=ServerQuirks(announces=True))
    server.open("a.py", TEXT)
    assert not server._running._awaits_work
    assert not server._running._works


@pytest.mark.parametrize(("server_kind", "silent"), [("checks", False), ("checks-faults", True)])
def test_a_server_that_offers_what_it_has_looked_into_is_shown_the_project(
    server_kind: str, silent: bool, start: Start, tmp_path: Path
) -> None:
    write(tmp_path / "project", a__py="alpha", b_b__py="beta", c__py="gamma\0", d__txt="delta", e__py="")
    server = start(server_kind, quirks=ServerQuirks(reads_all=True, silent_if_clean=silent))
    server.open("a.py", "alpha")
    assert {"alpha", "beta"} <= set(ask(server)) <= {"alpha", "beta", "a", ")"}
    assert server.waited()[1] == 0
    server = start(server_kind)
    server.open("a.py", "alpha")
    assert "beta" not in ask(server)


def test_a_server_that_checks_nothing_is_asked_all_the_same(start: Start, tmp_path: Path) -> None:
    write(tmp_path / "project", a__py="alpha", b__py="beta")
    server = start("remembers", quirks=ServerQuirks(reads_all=True), ready=0.5)
    server.open("a.py", "one ")
    assert "one" in ask(server)
    assert server.waited()[1] == 1
