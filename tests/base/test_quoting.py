"""Texts of others in messages: what is secret in them is hidden before they are cut."""

from __future__ import annotations

import pytest

from ci_eval.core.base.quoting import HIDDEN, hide, hiding, quote

SECRET = "sk-0123456789abcdefghijklmnopq"


@pytest.mark.parametrize("before", range(270, 301))
def test_no_cut_leaves_a_part_of_a_secret(before: int) -> None:
    with hiding(SECRET):
        said = quote("." * before + SECRET + "." * 50, 300)
    assert len(said) == 300
    assert not set(said) - set("." + HIDDEN)


def test_the_end_of_a_text_is_cut_behind_its_passwords() -> None:
    assert quote(f"at https://user:{SECRET}@host/path", -len("r@host/path")) == "://host/path"[-11:]


def test_bytes_are_shown_as_text_and_halves_of_characters_are_not_left() -> None:
    assert quote(b"\xffa") == "\\xffa"
    assert quote("\ud800a") == "\ufffda"


def test_a_secret_is_hidden_only_where_it_is_used() -> None:
    with hiding("none"):
        assert hide("none") == HIDDEN
    assert hide("none") == "none"
    with hiding(""):
        assert hide("none") == "none"
