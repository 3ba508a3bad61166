"""The suggestions as a language server makes them, before an editor has ordered, hidden and stored any."""

from __future__ import annotations

from typing import Literal

from ci_eval.core.model.sessions import Suggestion

Extension = Literal["", "clangd", "gopls"]

REMOVED, REMOVED_BEFORE = "⌫", "⇤"
"""The marks in a tail: the text behind a mark would be removed by acceptance, behind the caret or before the token."""
ELSEWHERE = "⇡"
"""The mark in a tail before what acceptance would write elsewhere in the file."""


class Offer(Suggestion, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A suggestion with the fields that an editor needs to display it. `tail`: the whole text that its acceptance
    leaves behind `text`."""

    filtered_by: str | None = None
    """The server's own `filterText`; None = the label."""
    begin: int = 0
    """The begin of the range that acceptance replaces, relative to the beginning of the token."""
    firm: int = 0
    """The length of the beginning of `tail` that holds no placeholder."""
    number: int = 0
    """The kind, as the editor numbers it: it orders what is equal otherwise."""
    item: int = 0
    """The index of its item in the server's answer."""
    preselect: bool = False
    visible: bool = True
    """True if the editor displays it at all; if not, its range cannot be replaced."""
    extension: Extension = ""
    """The editor's extension that changes the texts by which the list is filtered; "" = none."""


def plain(offer: Suggestion, tail: str) -> Suggestion:
    """Return the stored part of the suggestion, with that tail."""
    if type(offer) is Suggestion and offer.tail == tail:
        return offer
    return Suggestion(
        text=offer.text,
        tail=tail,
        label=offer.label,
        kind=offer.kind,
        filter_text=offer.filter_text,
        sort_text=offer.sort_text,
        edits=offer.edits,
        grades=offer.grades,
    )
