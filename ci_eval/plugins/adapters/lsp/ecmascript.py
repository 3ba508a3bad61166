"""The settings for servers of TypeScript and JavaScript."""

from __future__ import annotations

from typing import Any

from ci_eval.plugins.adapters.lsp.overlay import Overlay

PREFERENCES: dict[str, Any] = {"includeCompletionsWithInsertText": True}
"""The preference for suggestions that replace more than the name, such as `?.name` for `.name`."""

SETTINGS: dict[str, Any] = {
    language: {
        "preferences": PREFERENCES,
        # By default, these servers make npm install types for each package that the project names. The first key is
        # read by TypeScript's own server, the second by VS Code's.
        "tsserver": {"automaticTypeAcquisition": {"enabled": False}},
        "disableAutomaticTypeAcquisition": True,
    }
    for language in ("typescript", "javascript", "js/ts")
}


def preferences(on: bool) -> dict[str, Any]:
    return {"includeCompletionsForModuleExports": on, "includeCompletionsForImportStatements": on}


def auto_import(on: bool) -> Overlay:
    """Return the settings that turn auto-import on or off. VS Code reads the first, TypeScript's own server the
    second."""
    return Overlay(
        settings={language: {"suggest": {"autoImports": on}, "preferences": preferences(on)} for language in SETTINGS}
    )
