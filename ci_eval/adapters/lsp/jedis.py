"""Starts servers that use jedi so that jedi imports, and thereby runs, none of the project's modules."""

from __future__ import annotations

from ci_eval.adapters.lsp.engine import python_code
from ci_eval.adapters.place import Place

# By default jedi imports the module `gi`, and compiled modules wherever they are installed, since these have no source
# to read. The second is limited to the standard library.
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
    """The command that runs `code`, which starts the server, with such a jedi."""
    return python_code(place, f"exec({_BEFORE!r}); {code}")
