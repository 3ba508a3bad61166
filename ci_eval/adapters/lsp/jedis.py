"""Keeps servers that use jedi from importing anything of the project: no modules by name, and no compiled ones."""

from __future__ import annotations

from ci_eval.adapters.lsp.engine import python_code
from ci_eval.adapters.place import Place

# By default jedi imports `gi`, and every compiled module that is installed, since there is no source to read.
_BEFORE = """
from jedi import settings
from jedi.inference import compiled

settings.auto_import_modules = []
load = compiled.load_module

def load_standard(state, *, sys_path, **named):
    return load(state, sys_path=[path for path in sys_path if "site-packages" not in path], **named)

compiled.load_module = load_standard
"""


def jedi_server(place: Place, code: str) -> list[str]:
    """The command that runs it; `code` starts the server."""
    return python_code(place, f"exec({_BEFORE!r}); {code}")
