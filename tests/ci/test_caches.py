"""Caches: the stand-in does what actions/cache does, and our action takes from it what it put there, and nothing else.

GitHub's client talks to the server of caches that act has. The results are what actions/cache 27d5ce7 (v5.0.5) gave
there. Where CI_EVAL_ACTIONS names a folder with a checkout of it, called cache, that one is asked in place of the
stand-in.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from itertools import permutations
from pathlib import Path

import pytest
import yaml

from ci_eval.ci.inputs import cache_key
from tests.ci.documentation import documented
from tests.ci.stand_ins import NODE, THEIRS, GitHub, github
from tests.projects import GREETER, write

ACTIONS = os.environ.get("CI_EVAL_ACTIONS", "")
KEEPING = """
on: workflow_dispatch
jobs:
  keep:
    runs-on: ubuntu-latest
    permissions: {}
    steps:
      - run: rm -rf kept other
      - id: cache
        uses: actions/cache@55cc8345863c7cc4c66a329aec7e433d2d1c52a9
        with: INPUTS
      - env: {HIT: "${{ steps.cache.outputs.cache-hit }}"}
        run: echo "hit:$HIT restored:$(ls kept 2> /dev/null | xargs)."; mkdir -p kept other; touch kept/FILE
      - run: exit CODE
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHub]:
    """A maintainer's repository."""
    folder = tmp_path_factory.mktemp("github")
    with github(folder, {}, write(folder / "p", main__py=GREETER), {}) as served:
        if ACTIONS:
            shutil.rmtree(folder / "actions" / "cache")
            shutil.copytree(Path(ACTIONS) / "cache", folder / "actions" / "cache")
        yield served


def kept(
    hub: GitHub, caches: Path, key: str, inputs: Mapping[str, str] | None = None, code: int = 0
) -> tuple[int, str]:
    """A job that caches a folder under a key, and makes a file there that is called by the key."""
    given = yaml.safe_dump({"path": "kept", "key": key, **(inputs or {})}, default_flow_style=True, width=1000).strip()
    text = KEEPING.replace("INPUTS", given).replace("FILE", key).replace("CODE", str(code))
    hub.call(THEIRS, "keeping", text)
    return hub.run("keeping", 1, repository=THEIRS, caches=caches)


SAVED = "Cache saved with key: a"
CASES: list[tuple[str, dict[str, str], str, str]] = [
    ("", {}, "hit: restored:.", SAVED),
    ("a", {}, "hit:true restored:a.", "Cache hit occurred on the primary key a, not saving cache."),
    ("A", {}, "hit:true restored:A.", "Cache hit occurred on the primary key a, not saving cache."),
    ("ab", {}, "hit:false restored:ab.", SAVED),
    ("ba", {}, "hit: restored:.", SAVED),
    ("b1", {"restore-keys": "b"}, "hit:false restored:b1.", SAVED),
    ("a", {"path": "other"}, "hit: restored:.", SAVED),
    ("a", {"lookup-only": "true"}, "hit:true restored:.", "Cache found and can be restored from key: a"),
]


@pytest.mark.engine
@pytest.mark.registry
@pytest.mark.needs("go", "node", "npm")
@pytest.mark.parametrize(("stored", "inputs", "restored", "said"), CASES)
def test_what_is_restored_and_saved_is_what_the_action_does(
    hub: GitHub, tmp_path: Path, stored: str, inputs: dict[str, str], restored: str, said: str
) -> None:
    if stored:
        assert kept(hub, tmp_path, stored)[0] == 0
    code, log = kept(hub, tmp_path, "a", inputs)
    assert code == 0, log
    assert restored in log
    assert said in log


@pytest.mark.engine
@pytest.mark.registry
@pytest.mark.needs("go", "node", "npm")
def test_a_job_that_failed_saves_nothing(hub: GitHub, tmp_path: Path) -> None:
    assert kept(hub, tmp_path, "a", code=1)[0] != 0
    assert "hit: restored:." in kept(hub, tmp_path, "a")[1]


@pytest.mark.engine
@pytest.mark.registry
@pytest.mark.needs("go", "node", "npm")
def test_a_miss_fails_where_the_step_says_so(hub: GitHub, tmp_path: Path) -> None:
    said = "Failed to restore cache entry. Exiting as fail-on-cache-miss is set. Input key: a"
    log = ""
    # On a busy machine act may lose what a step printed right before its end.
    for _ in range(3):
        code, log = kept(hub, tmp_path, "a", {"fail-on-cache-miss": "true"})
        assert code != 0
        if said in log:
            return
    pytest.fail(log)


@pytest.mark.skipif(not ACTIONS, reason="CI_EVAL_ACTIONS names no checkouts of the actions")
def test_inputs_and_defaults_are_those_of_the_action() -> None:
    inputs = yaml.safe_load((Path(ACTIONS) / "cache" / "action.yml").read_text())["inputs"]
    assert {name: each.get("default", "") for name, each in inputs.items()} == NODE["cache"][1]


# ------------------------------------------------------------------------------------------------------- our own use


def test_no_key_begins_another_for_then_github_would_restore_it() -> None:
    keys = [cache_key({"engine": engine}) for engine in ("", "j", "jedi", "jedi@0.19.1")]
    assert not any(one.startswith(other) for one, other in permutations(keys, 2))


CONFIG = (
    "language: python\nengine: jedi@0.18.2\nproject: pypi:six==1.16.0\ninterpret: {sessionsLimit: 20, seed: SEED}\n"
)
CALLER = """
on: push
jobs:
  figures:
    runs-on: ubuntu-latest
    permissions: {contents: read}
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1
"""


@pytest.mark.engine
@pytest.mark.registry
@pytest.mark.needs("go", "node", "npm")
def test_a_second_run_takes_engine_and_project_from_the_cache_and_another_configuration_does_not(hub: GitHub) -> None:
    config = hub.repository(THEIRS) / "ci" / "completion.yaml"
    config.parent.mkdir()
    # By the second run nothing can be downloaded any more.
    runs = [("1", {}), ("1", {"PIP_NO_INDEX": "1"}), ("2", {"PIP_NO_INDEX": "1"})]
    done = []
    for seed, offline in runs:
        shutil.rmtree(hub.folder / "kept-by-ci-eval", ignore_errors=True)
        config.write_text(CONFIG.replace("SEED", seed))
        hub.call(THEIRS, "cached", CALLER + documented("GitHub: one line"))
        variables = {"CI_EVAL_CACHE": str(hub.folder / "kept-by-ci-eval"), **offline}
        done.append(hub.run("cached", 1, "push", THEIRS, caches=hub.folder / "caches", variables=variables))
    codes, logs = [code for code, _ in done], [log for _, log in done]
    assert codes == [0, 0, 1], logs
    assert ["ci_eval_InstallError" in log for log in logs] == [False, False, True]
    assert ["Cache restored from key: ci-eval-" in log for log in logs] == [False, True, False]
    assert ["Cache saved with key: ci-eval-" in log for log in logs] == [True, False, False]
