"""The properties of a token that both sides know: its kind, its location, and whether it is static."""

from __future__ import annotations

from ci_eval.core.model import Kind, Location, Properties
from ci_eval.plugins.jetbrains.fields import Fields

KINDS = {kind.value: kind for kind in Kind}
UNTOLD = Kind.VARIABLE
"""Kind of a token for which the plugin names no kind, or an unknown one. Its own word is left over."""
LOCATIONS: dict[str, Location] = {"PROJECT": "project", "LIBRARY": "library"}
WORDS: dict[str | None, str] = {place: word for word, place in LOCATIONS.items()}
UNKNOWN = "UNKNOWN"


def read_kind(fields: Fields) -> Kind:
    """Return the kind in `tokenType`. An unknown kind is also left over."""
    said = fields.peek("tokenType")
    if said is not None and not isinstance(said, str):
        raise fields.wrong("`tokenType` is not a text")
    known = KINDS.get(said or "")
    if known:
        fields.plain("tokenType")
    return known or UNTOLD


def read_token_properties(fields: Fields) -> Properties:
    """Return the properties since 2021: the type, the location of the declaration, and `additional`, whose values are
    texts."""
    additional = fields.section("additional")
    package = additional.optional("packageName", str)
    return Properties(
        kind=read_kind(fields),
        location=LOCATIONS.get(fields.text("location", UNKNOWN)),
        is_static=_flag(additional, "isStatic"),
        package=package,
    )


def _flag(fields: Fields, name: str) -> bool | None:
    said = fields.optional(name, str)
    if said not in {None, "true", "false"}:
        raise fields.wrong(f'`{name}` is {said!r}, not "true" or "false"')
    return None if said is None else said == "true"


def as_tokens(properties: Properties) -> dict[str, object]:
    """Return the fields of the properties since 2021."""
    additional: dict[str, str] = {}
    if properties.is_static is not None:
        additional["isStatic"] = "true" if properties.is_static else "false"
    if properties.package is not None:
        additional["packageName"] = properties.package
    return {
        "tokenType": properties.kind.value,
        "location": WORDS.get(properties.location, UNKNOWN),
        "features": [],
        "additional": additional,
    }
