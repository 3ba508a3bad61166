"""What servers for TypeScript and JavaScript are told."""

from __future__ import annotations

from typing import Any

LANGUAGE_IDS = {".tsx": "typescriptreact", ".jsx": "javascriptreact"}

PREFERENCES: dict[str, Any] = {
    "includeCompletionsForModuleExports": False,
    "includeCompletionsForImportStatements": False,
    "includeCompletionsWithInsertText": True,
}
"""No names that an import would have to be added for: they would make every list a thousand items long."""

SETTINGS: dict[str, Any] = {
    language: {
        "suggest": {"autoImports": False},
        "preferences": PREFERENCES,
        # They would have npm install the types of whatever the project names. TypeScript's own server, then VS Code's.
        "tsserver": {"automaticTypeAcquisition": {"enabled": False}},
        "disableAutomaticTypeAcquisition": True,
    }
    for language in ("typescript", "javascript", "js/ts")
}
