"""What JetBrains Marketplace refuses in a recipe of TeamCity.

After its own validator: github.com/JetBrains/intellij-plugin-verifier at 49f304da10935f3c5064e2068042716fb32fbf49,
intellij-plugin-structure/structure-teamcity-recipes, Validator.kt and TeamCityRecipeSpec.kt. Containers and steps that
use other recipes are left out: ours have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

TOP = {"name": 61, "title": 50, "version": 100, "description": 1000}
"""What must be there, and its most characters; the rest may be there."""
INPUT = {"label": 100, "description": 250}
PART = re.compile(r"[a-zA-Z0-9]+([_-][a-zA-Z0-9]+)*")
TYPES = {"text", "boolean", "select", "password"}
MOST_SCRIPT = 50_000


def refused(recipe: Mapping[str, Any]) -> Iterator[str]:
    """The names of the properties that are refused."""
    yield from _unknown(recipe, {*TOP, "container", "inputs", "steps"})
    yield from (name for name, most in TOP.items() if not 0 < len(str(recipe.get(name) or "").strip()) <= most)
    yield from _name(str(recipe.get("name")))
    if not re.fullmatch(r"\d+\.\d+\.\d+", str(recipe.get("version"))):
        yield "version"
    names = [name for entry in recipe.get("inputs", []) for name in entry]
    yield from ("twice" for _ in range(len(names) - len(set(names))))
    for entry in recipe.get("inputs", []):
        yield from _input(entry)
    for step in recipe.get("steps") or [{}]:
        yield from _step(step)


def _unknown(found: Mapping[str, Any], known: set[str]) -> Iterator[str]:
    return (f"unknown: {name}" for name in found if name not in known)


def _name(name: str) -> Iterator[str]:
    namespace, slash, rest = name.partition("/")
    if not slash or "/" in rest:
        yield "name"
    elif not PART.fullmatch(namespace) or not 5 <= len(namespace) <= 30:
        yield "namespace"
    elif not PART.fullmatch(rest) or not 5 <= len(rest) <= 30:
        yield "name"


def _input(entry: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    if len(entry) != 1 or len(next(iter(entry))) > 50:
        yield "input"
    for each in entry.values():
        yield from _unknown(each, {"type", "required", "default", "options", *INPUT})
        yield from ("type" for _ in range(each.get("type") not in TYPES))
        yield from ("required" for _ in range(str(each.get("required", True)).lower() not in {"true", "false"}))
        yield from (name for name, most in INPUT.items() if not 0 < len(str(each.get(name, "x")).strip()) <= most)
        # Blanks are a default, nothing is none.
        yield from ("default" for _ in range(each.get("default", "x") == ""))


def _step(step: Mapping[str, Any]) -> Iterator[str]:
    yield from _unknown(step, {"name", "container", "uses", "script", "kotlin-script", "inputs"})
    if not 0 < len(str(step.get("name") or "").strip()) <= 50:
        yield "step name"
    if not 0 < len(str(step.get("script") or "").strip()) <= MOST_SCRIPT:
        yield "script"
