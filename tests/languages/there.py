"""Whether the imports of a text are there."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.catalogs import languages


def missing(language: str, root: Path, path: str, text: str) -> list[str]:
    """The packages of the imports that are not there, in order."""
    imports = languages.CATALOG.load(language).imports
    assert imports
    return [package for package, known in imports(root, None)(path, text) if not known]


def shares(language: str, root: Path, path: str, text: str, environment: Path | None = None) -> list[bool]:
    """For each import of the text, in order: whether project or environment have it."""
    imports = languages.CATALOG.load(language).imports
    assert imports
    return [known for _, known in imports(root, environment)(path, text)]
