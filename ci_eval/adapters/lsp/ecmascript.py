"""Settings for servers of TypeScript and JavaScript."""

from __future__ import annotations

from typing import Any

LANGUAGE_IDS = {".tsx": "typescriptreact", ".jsx": "javascriptreact"}

PREFERENCES: dict[str, Any] = {
    "includeCompletionsForModuleExports": False,
    "includeCompletionsForImportStatements": False,
    "includeCompletionsWithInsertText": True,
}
"""No names that would first have to be imported: with them, every list would have a thousand items."""

SETTINGS: dict[str, Any] = {
    language: {
        "suggest": {"autoImports": False},
        "preferences": PREFERENCES,
        # Otherwise these servers have npm install types for whatever the project names. The first key is for
        # TypeScript's own server, the second for VS Code's.
        "tsserver": {"automaticTypeAcquisition": {"enabled": False}},
        "disableAutomaticTypeAcquisition": True,
    }
    for language in ("typescript", "javascript", "js/ts")
}
