"""Folders of pages, put in place as a whole."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

from ci_eval.core.rendering.htmlsite import HtmlSite, replace_folder
from tests.projects import write


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
