"""The start of servers that use jedi, so that jedi runs none of the project's modules and no interpreter but ours."""

from __future__ import annotations

from ci_eval.plugins.adapters.lsp.engine import python_code
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.python_paths import package_paths

# By default jedi imports the module `gi`, and compiled modules wherever they are installed, since these have no source
# to read. The second is limited to the standard library: neither packages nor folders of the project are searched.
_BEFORE = """
from jedi import settings
from jedi.inference import compiled

settings.auto_import_modules = []
load = compiled.load_module

def load_standard(state, *, sys_path, **named):
    standard = [path for path in sys_path if path not in packages and "site-packages" not in path]
    return load(state, sys_path=standard, **named)

compiled.load_module = load_standard
"""

# jedi imports compiled modules in a process of its own, which it starts with the environment's Python and asks for
# its search paths (`CompiledSubprocess._get_process` in jedi/inference/compiled/subprocess, jedi 0.20.1). Here that is
# the Python of the server itself, isolated and without `site`, and the environment's packages are added as data.
_PATHS = """
import sys
from jedi.api import environment
from jedi.inference.compiled import subprocess

start = subprocess._GeneralizedPopen
standard = environment.Environment.get_sys_path

def start_isolated(command, **named):
    return start((sys.executable, "-I", "-S", *command[1:]), **named)

def paths(self):
    return [*standard(self), *packages]

subprocess._GeneralizedPopen = start_isolated
environment.Environment.get_sys_path = paths
"""


def jedi_server(place: Place, code: str) -> list[str]:
    packages = [*map(str, place.sources), *package_paths(place.environment)]
    return python_code(place, f"exec({_BEFORE!r}); packages = {packages!r}; exec({_PATHS!r}); {code}")
