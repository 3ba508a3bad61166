"""The words for the configuration sent to an engine, and for how the configurations of two engines differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from ci_eval.core.model.engine.sent import Condition, MachineState, SentConfiguration

MOST = 3
"""The most differences that a sentence names."""
LONGEST = 100
"""The longest value in a sentence, in characters."""


def sentence(differences: Sequence[Condition], shown: Callable[[str], str] = str) -> str:
    """Return the differences in words, such as "base was told `autoImport: off`, new was not"; "" if there are none.

    `shown` makes foreign text safe.
    """
    texts = [_difference_text(condition, shown) for condition in differences[:MOST]]
    if (more := len(differences) - MOST) > 0:
        texts.append(f"and {more:,} more, which the report lists")
    return "; ".join(texts)


def _difference_text(condition: Condition, shown: Callable[[str], str]) -> str:
    if condition.name == "dependencies" and "told" in (condition.base, condition.new):
        informed, uninformed = ("base", "new") if condition.base == "told" else ("new", "base")
        return f"{informed} was told where the packages are that the project needs, {uninformed} was not"
    base, new = (shown(f"`{condition.name}: {short(value)}`") for value in (condition.base or "", condition.new or ""))
    if condition.base is None:
        return f"new was told {new}, base was not"
    if condition.new is None:
        return f"base was told {base}, new was not"
    return f"base was told {base}, new {new}"


def short(value: str) -> str:
    """Return a value for a sentence, cut if it is long."""
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"


def conditions_line(differences: Sequence[Condition], *, only_told: bool, shown: Callable[[str], str] = str) -> str:
    """Return the sentence of a comparison's headline about the configurations sent to the engines; "" if these are the
    same."""
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
"""The part of an engine's configuration → its name in reports."""


def told_rows(sent: SentConfiguration | None) -> list[tuple[str, str]]:
    """Return a name and a text for each part of an engine's configuration; empty if that is not recorded."""
    known = msgspec.to_builtins(sent) if sent else {}
    return [(name, _text(known[key])) for key, name in NAMES.items() if known.get(key)]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return " ".join(value)
    if isinstance(value, Mapping) and all(isinstance(item, str | float) for item in value.values()):
        return ", ".join(f"{key} {item if isinstance(item, str) else f'{item:,g}'}" for key, item in value.items())
    return msgspec.json.encode(value).decode()


def busy_text(machine: MachineState) -> str:
    """Return what to think of times that were measured on a busy machine; "" if it was not busy."""
    if not machine.busy:
        return ""
    signs = []
    if machine.load is not None:
        signs.append(f"load {machine.load:.1f} on {machine.cores} cores")
    if machine.pressure is not None:
        signs.append(f"for {machine.pressure:.0%} of the time something waited for a processor")
    return (
        f"The machine was busy ({', '.join(signs)}): times say more about the machine than about the engine; measure "
        "them on a quiet one, or with fewer --jobs"
    )
