"""Writes down what engines were told, and how that differs between two of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from ci_eval.model.engine.sent import Condition, MachineState, SentConfiguration

MOST = 3
"""Differences that a sentence names."""
LONGEST = 100
"""Characters of a value in a sentence."""


def sentence(differences: Sequence[Condition], shown: Callable[[str], str] = str) -> str:
    """Return the differences in words, such as "base was told `autoImport: off`, new was not"; "" without any.

    `shown` makes foreign text safe there.
    """
    said = [_said(each, shown) for each in differences[:MOST]]
    if (more := len(differences) - MOST) > 0:
        said.append(f"and {more:,} more, which the report lists")
    return "; ".join(said)


def _said(each: Condition, shown: Callable[[str], str]) -> str:
    if each.name == "dependencies" and "told" in (each.base, each.new):
        knows, other = ("base", "new") if each.base == "told" else ("new", "base")
        return f"{knows} was told where the packages are that the project needs, {other} was not"
    base, new = (shown(f"`{each.name}: {_short(value)}`") for value in (each.base or "", each.new or ""))
    if each.base is None:
        return f"new was told {new}, base was not"
    if each.new is None:
        return f"base was told {base}, new was not"
    return f"base was told {base}, new {new}"


def _short(value: str) -> str:
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"


def conditions_line(differences: Sequence[Condition], *, only_told: bool, shown: Callable[[str], str] = str) -> str:
    """Return the sentence of a comparison's headline about what the engines were told; "" where that is the same."""
    if not differences:
        return ""
    lead = "The engine is the same, the runs differ only in what it was told" if only_told else "Not told the same"
    return f"{lead}: {sentence(differences, shown)}."


NAMES = {
    "like": "Configured like",
    "autoImport": "Auto-import",
    "dependencies": "Dependencies",
    "arguments": "Arguments",
    "prepared": "Run beforehand",
    "settings": "Settings",
    "options": "Initialization options",
    "environment": "Environment",
    "files": "Files",
    "languageIds": "Names of the language",
    "quirks": "Special treatment",
    "limits": "Limits",
    "capabilities": "Client capabilities",
}
"""Part of what an engine is told → its name in reports."""


def told_rows(sent: SentConfiguration | None) -> list[tuple[str, str]]:
    """Return a name and a text for each part of what an engine was told; nothing where that is not recorded."""
    known = msgspec.to_builtins(sent) if sent else {}
    return [(name, _text(known[key])) for key, name in NAMES.items() if known.get(key)]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return " ".join(value)
    if isinstance(value, Mapping) and all(isinstance(each, str | float) for each in value.values()):
        return ", ".join(f"{key} {each if isinstance(each, str) else f'{each:,g}'}" for key, each in value.items())
    return msgspec.json.encode(value).decode()


def busy_text(machine: MachineState) -> str:
    """Return what to think of times that were measured on a busy machine; "" where it was not."""
    if not machine.busy:
        return ""
    said = []
    if machine.load is not None:
        said.append(f"load {machine.load:.1f} on {machine.cores} cores")
    if machine.pressure is not None:
        said.append(f"for {machine.pressure:.0%} of the time something waited for a processor")
    return (
        f"The machine was busy ({', '.join(said)}): times say more about the machine than about the engine; measure "
        "them on a quiet one, or with fewer --jobs"
    )
