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
    language: {"suggest": {"autoImports": False}, "preferences": PREFERENCES}
    for language in ("typescript", "javascript", "js/ts")
}
