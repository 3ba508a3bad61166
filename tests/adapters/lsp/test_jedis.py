"""Servers that use jedi: they know an environment's packages, and run none of its code."""

from __future__ import annotations

import json
import subprocess
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from ci_eval.core.contracts import Surroundings
from ci_eval.plugins.adapters.lsp.jedis import jedi_server
from ci_eval.plugins.adapters.place import Place, variables
from ci_eval.plugins.engines.jedi import _find_own_jedi
from tests.engines.hostile.trap import Trap

COMPLETES = """
import json, jedi
environment = jedi.get_default_environment()
script = jedi.Script("import fine\\nimport nested\\nimport math\\nfine.", project=jedi.Project({root!r}))
names = [completion.name for completion in script.complete(4, 5)]
names += [completion.name for completion in script.goto(2, 8)]
natives = jedi.Script("import native\\nnative.", project=jedi.Project({root!r})).complete(2, 7)
compiled = jedi.Script("import math\\nmath.flo", project=jedi.Project({root!r})).complete(2, 8)
print(json.dumps([environment.get_sys_path(), names, len(natives), [found.name for found in compiled]]))
"""


def test_packages_are_found_and_nothing_of_them_runs(tmp_path: Path) -> None:
    trap = Trap.below(tmp_path)
    environment = tmp_path / "environment"
    site = environment / "lib" / "python3.11" / "site-packages"
    packages = Trap(site, trap.canary)
    packages.python("sitecustomize.py", "usercustomize.py", "started.py", "folder/nested.py", "math.py", "site.py")
    packages.write("fine.py", "def seen(): ...\n")
    packages.write("x.pth", "import started\nfolder\n")
    packages.native(f"native{EXTENSION_SUFFIXES[0]}")
    packages.program("../../../bin/python", "../../../bin/python3")
    surroundings = Surroundings(
        root=trap.root, language="python", keywords=frozenset(), cache=tmp_path, timeout=1, memory=0,
        environment=environment,
    )  # fmt: skip
    place = Place.new(_find_own_jedi(), surroundings)
    place.renew()
    try:
        command = jedi_server(place, f"exec({COMPLETES.format(root=str(trap.root))!r})")
        done = subprocess.run(
            command, cwd=place.scratch, env=variables(place), capture_output=True, text=True, check=False
        )
    finally:
        place.remove()
    assert done.stderr == ""
    paths, names, natives, compiled = json.loads(done.stdout)
    assert paths[-2:] == [str(site), str(site / "folder")]
    assert not [path for path in paths[:-2] if "site-packages" in path or "dist-packages" in path]
    assert "seen" in names
    assert "nested" in names
    assert natives == 0, "a compiled module of a package is not imported"
    assert compiled == ["floor"]
    assert trap.sprung() == []
