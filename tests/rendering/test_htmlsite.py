"""Folders of pages, put in place as a whole."""

from __future__ import annotations

import re
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import jinja2
import msgspec
import pytest

from ci_eval.core.model import Kind, Lookup, Properties, Record, Session, Status, Suggestion
from ci_eval.plugins.tasks.code_review import TASK as CODE_REVIEW
from ci_eval.plugins.tasks.completion import COMPLETION
from ci_eval.rendering.htmlsite import SESSIONS, HtmlSite, Scripts, replace_folder, shown_session
from tests.projects import write
from tests.reports.samples import session


def test_a_template_escapes_what_it_is_given_and_asks_for_all_it_names(tmp_path: Path) -> None:
    templates = write(tmp_path / "t", page__html="<p>{{ text }} {{ known }}</p>\n", style__css="p {}")
    site = HtmlSite(tmp_path / "out", templates, known="<b>")
    site.render("page.html", "deep/index.html", text='<a href="x">')
    site.assets(["style.css"])
    assert (tmp_path / "out" / "deep" / "index.html").read_text() == "<p>&lt;a href=&#34;x&#34;&gt; &lt;b&gt;</p>"
    assert (tmp_path / "out" / "assets" / "style.css").read_text() == "p {}"
    with pytest.raises(jinja2.UndefinedError, match="text"):
        site.render("page.html", "index.html")


def test_what_fails_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    with replace_folder(tmp_path / "html") as folder:
        write(folder, index__html="old")

    def fails() -> None:
        with replace_folder(tmp_path / "html") as folder:
            write(folder, index__html="new")
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fails()
    assert [(path.name, (path / "index.html").read_text()) for path in tmp_path.iterdir()] == [("html", "old")]


def test_a_long_list_keeps_its_first_suggestions_and_the_neighbours_of_the_expected_one() -> None:
    shown = shown_session(session("a.py", 0, "x", 800, total=1_000), COMPLETION)["lookups"][0]
    places = [item[0] for item in shown["items"]]
    assert places == [*range(1, 51), *range(797, 804)]
    assert shown["total"] == 1_000


def reviewed() -> Session:
    """A record whose one suggestion is graded."""
    lookup = Lookup(
        prefix="",
        suggestions=(Suggestion(text="a\n" * 400, kind="whole", grades={"chrf": 0.41234}, remark="Why?"),),
        total=1,
        rank=None,
        latency=1.0,
        grades={"chrf": 0.41234},
    )
    return Session(
        id="1",
        file="a.txt",
        offset=0,
        expected_text="",
        properties=Properties(kind=Kind.RECORD, language="go"),
        status=Status.OK,
        record=Record(context={"diff": "+ a"}),
        lookups=(lookup,),
    )


def test_of_a_record_all_lines_are_shown_with_their_grades() -> None:
    (lookup,) = shown_session(reviewed(), CODE_REVIEW)["lookups"]
    assert lookup["items"] == ((1, "a\n" * 400, "whole", 0, (("chrf", 0.4123),), "Why?"),)
    assert lookup["grades"] == (("chrf", 0.4123),)


def test_of_a_record_only_its_language_is_told() -> None:
    assert shown_session(reviewed(), CODE_REVIEW)["properties"] == (("language", "go"),)


def test_a_script_holds_the_sessions_as_they_are_shown(tmp_path: Path) -> None:
    given = [session("a.py", place, "x", 2, total=3) for place in range(SESSIONS + 1)]
    scripts = Scripts(tmp_path, "a", COMPLETION)
    for each in given:
        scripts.add(each)
    scripts.close()
    assert scripts.starts == [0, SESSIONS]
    found = [each for number in (0, 1) for each in unpacked(tmp_path / f"a-{number}.js")]
    shown = [shown_session(each, COMPLETION) for each in given]
    assert found == msgspec.json.decode(msgspec.json.encode(shown))


def test_most_suggestions_are_a_rank_a_text_and_a_kind() -> None:
    (lookup,) = shown_session(session("a.py", 0, "x", 2, total=3), COMPLETION)["lookups"]
    assert {len(item) for item in lookup["items"]} == {3}


def test_a_thousand_sessions_take_little_room(tmp_path: Path) -> None:
    scripts = Scripts(tmp_path, "a", COMPLETION)
    for place in range(1_000):
        scripts.add(session("a.py", place, "x", 2, total=20))
    scripts.close()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 100_000


def unpacked(path: Path) -> list[dict[str, Any]]:
    packed = re.search(r'"([A-Za-z0-9+/=]+)"', path.read_text())
    assert packed
    found: list[dict[str, Any]] = msgspec.json.decode(zlib.decompress(b64decode(packed[1])))
    return found
