"""The workflows for a folder of a repository: its engine an artifact of another job, its registries a secret."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml

from tests.ci.stand_ins import ROOT, THEIRS, GitHub, github
from tests.projects import GREETER, write

pytestmark = [pytest.mark.engine, pytest.mark.registry, pytest.mark.needs("go", "node", "npm")]

CHECKOUT = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1"
UPLOAD = "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a"
CALLER = f"""
on: workflow_dispatch
jobs:
  make:
    runs-on: ubuntu-latest
    steps:
      - uses: {CHECKOUT}
      - run: cp tools/server.py sub/server && chmod +x sub/server && tar -C sub -cf engine.tar server
      - uses: {UPLOAD}
        with: {{name: made-elsewhere, path: engine.tar}}
  figures:
    needs: make
    uses: OWNER/ci-eval/.github/workflows/evaluate.yml@COMMIT
    with:
      configs: ci/*.yaml
      shards: 2
      working-directory: sub
      engine-artifact: made-elsewhere
      setup: touch setup-was-here
    secrets:
      registries: CI_EVAL_CACHE=CACHE
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHub]:
    folder = tmp_path_factory.mktemp("monorepo")
    project = write(folder / "p", **{f"file{i}__py": f"{GREETER}x{i} = {i}\nprint(x{i})\n" for i in range(4)})
    with github(folder, {}, project, {}) as served:
        sub = served.repository(THEIRS) / "sub"
        config = {"language": "python", "project": "path:code", "engine": {"command": ["./server", "--stdio"]}}
        write(sub / "ci", mine__yaml=yaml.safe_dump(config))
        (served.repository(THEIRS) / "project").rename(sub / "code")
        server = (ROOT / "tests" / "adapters" / "lsp" / "server.py").read_text()
        write(served.repository(THEIRS) / "tools", server__py=f"#!/usr/bin/env python3\n{server}")
        yield served


def test_a_folder_is_evaluated_with_an_engine_that_another_job_made(hub: GitHub) -> None:
    cache = hub.folder / "another-cache"
    hub.call(THEIRS, "mono", CALLER.replace("CACHE=CACHE", f"CACHE={cache}"))
    code, log = hub.run("mono", 1, repository=THEIRS)
    assert code == 0, log
    assert {"shard-mine-server-basic-1-of-2", "workspace-mine-server-basic"} <= hub.names(1)
    manifest = (hub.artifact(1, "workspace-mine-server-basic") / "manifest.json").read_text()
    assert '"path:code' in manifest
    # Where the secret's variable says.
    assert cache.is_dir()
