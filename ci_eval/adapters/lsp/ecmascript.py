"""Settings for servers of TypeScript and JavaScript."""

from __future__ import annotations

from typing import Any

LANGUAGE_IDS = {".tsx": "typescriptreact", ".jsx": "javascriptreact"}
"""Suffix → the protocol's name of the language, where it is not that of the file's language."""

PREFERENCES: dict[str, Any] = {
    "includeCompletionsForModuleExports": False,
    "includeCompletionsForImportStatements": False,
    "includeCompletionsWithInsertText": True,
}
"""Without names that would first have to be imported: with them, every list would have a thousand items."""

SETTINGS: dict[str, Any] = {
    language: {
        "suggest": {"autoImports": False},
        "preferences": PREFERENCES,
        # By default, these servers make npm install types for each package that the project names. The first key is
        # read by TypeScript's own server, the second by VS Code's.
        "tsserver": {"automaticTypeAcquisition": {"enabled": False}},
        "disableAutomaticTypeAcquisition": True,
    }
    for language in ("typescript", "javascript", "js/ts")
}
