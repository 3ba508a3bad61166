"""Whether the imports of a text are there."""

from __future__ import annotations

from pathlib import Path

from ci_eval import languages


def shares(language: str, root: Path, path: str, text: str, environment: Path | None = None) -> list[bool]:
    """For each import of the text, in order: whether project or environment have it."""
    imports = languages.CATALOG.load(language).imports
    assert imports
    return list(imports(root, environment)(path, text))
