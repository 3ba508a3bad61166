"""What is typed of a token before completion is asked for."""

from __future__ import annotations

from ci_eval.model import PrefixConfig


def queries(text: str, prefix: PrefixConfig) -> list[tuple[str, list[str]]]:
    """The sessions of a token: how each would be spelled alone, and the prefixes at which it asks.

    Every prefix goes on from the one before it, in the same session or in the one before.
    """
    if prefix.name == "Ladder":
        steps = [n for n in sorted(set(prefix.lengths or ())) if n < len(text)]
        return [(f"SimplePrefix({n})" if n else "NoPrefix", [text[:n]]) for n in steps]
    if prefix.name == "EveryPrefix":
        return [(spelled(prefix), [text[:n] for n in range(min(len(text), (prefix.n or len(text)) + 1))])]
    typed = prefix_of(text, prefix)
    return [(spelled(prefix), [typed[:n] for n in range(len(typed) + 1)] if prefix.emulate_typing else [typed])]


def prefix_of(text: str, prefix: PrefixConfig) -> str:
    """What is typed before completion is asked for, the last time if that is several times."""
    if prefix.name == "SimplePrefix":
        return text[: prefix.n]
    if prefix.name == "CapitalizePrefix":
        return _initials(text)
    return ""


def _initials(text: str) -> str:
    """getElementById → gEBI, get_element → ge, MAX_SIZE → MS; what leads (`_x`, `@x`, `$x`) belongs to the first."""
    name = text.lstrip("_@$#")
    words = [word for word in name.split("_") if word] or [""]
    shouted = len(words) > 1 and name.isupper()
    typed = "".join(word[:1] + ("" if shouted else _capitals(word[1:])) for word in words)
    return text[: len(text) - len(name)] + typed


def _capitals(text: str) -> str:
    return "".join(character for character in text if character.isupper())


def spelled(prefix: PrefixConfig) -> str:
    """In one word, as far as it decides what one query looks like."""
    if prefix.name == "Ladder":
        return f"Ladder({','.join(map(str, prefix.lengths or ()))})"
    return prefix.name + (f"({prefix.n})" if prefix.n else "") + "/typing" * prefix.emulate_typing
