"""The prefixes of a token at which completion is asked for."""

from __future__ import annotations

from ci_eval.core.model import PrefixConfig


def queries(text: str, prefix: PrefixConfig) -> list[tuple[str, list[str]]]:
    """Return the sessions of a token: for each, the strategy that it would have alone, and the prefixes of its lookups.
    Each prefix begins with the one before it, in the same session or in the one before."""
    if prefix.name == "Ladder":
        # A prefix as long as the token would leave nothing to complete.
        steps = [n for n in sorted(set(prefix.lengths or ())) if n < len(text)]
        return [(f"SimplePrefix({n})" if n else "NoPrefix", [text[:n]]) for n in steps]
    if prefix.name == "EveryPrefix":
        return [(spell_prefix(prefix), [text[:n] for n in range(min(len(text), (prefix.n or len(text)) + 1))])]
    typed = longest_prefix(text, prefix)
    if prefix.name == "Inside" and typed == text:
        return []
    return [(spell_prefix(prefix), [typed[:n] for n in range(len(typed) + 1)] if prefix.emulate_typing else [typed])]


def longest_prefix(text: str, prefix: PrefixConfig) -> str:
    if prefix.name in {"SimplePrefix", "Inside"}:
        return text[: prefix.n or 1]
    if prefix.name == "CapitalizePrefix":
        name = text.lstrip("_@$#")
        words = [word for word in name.split("_") if word] or [""]
        # In MAX_SIZE every letter is a capital, so only the first ones stand for words.
        shouted = len(words) > 1 and name.isupper()
        typed = "".join(word[:1] + ("" if shouted else "".join(filter(str.isupper, word[1:]))) for word in words)
        return text[: len(text) - len(name)] + typed
    return ""


def spell_prefix(prefix: PrefixConfig) -> str:
    """Return the prefix strategy in one word, for session ids: only what decides which lookups there are."""
    if prefix.name == "Ladder":
        return f"Ladder({','.join(map(str, prefix.lengths or ()))})"
    return prefix.name + (f"({prefix.n})" if prefix.n else "") + "/typing" * prefix.emulate_typing
