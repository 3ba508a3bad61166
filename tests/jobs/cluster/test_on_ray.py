"""A real cluster of two machines, as far as Ray can tell, each with a cache of its own."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ci_eval.ci import Screen
from ci_eval.core.base.errors import PreparationError
from ci_eval.core.config import dump, load, patch
from ci_eval.jobs import pipeline, runs
from ci_eval.jobs.cluster.node import Wanted
from ci_eval.jobs.preparation import prepare
from tests.command import raise_bug
from tests.needs import need_module
from tests.projects import GREETER, timeless, write
from tests.waiting import HANGS, wait_for

cluster_utils = need_module("ray.cluster_utils")
RayExecutor = import_module("ci_eval.jobs.cluster.on_ray").RayExecutor

pytestmark = [pytest.mark.registry, pytest.mark.slow, pytest.mark.filterwarnings("default")]

SPEC = "pypi:click==8.1.7"


def start(*arguments: object) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "ci_eval", *map(str, arguments)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(*arguments: object) -> tuple[int, str]:
    process = start(*arguments)
    _, err = process.communicate(timeout=HANGS)
    raise_bug(process.returncode, err)
    return process.returncode, " ".join(err.split())


def caches(tmp_path: Path) -> list[Path]:
    return [tmp_path / "cache-one", tmp_path / "cache-other"]


def scratches(tmp_path: Path) -> list[Path]:
    """Where each node puts what it is at."""
    return [tmp_path / "at-one", tmp_path / "at-other"]


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The head lends no CPU; two other nodes lend one each."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    for scratch in scratches(tmp_path):
        scratch.mkdir()
    made = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    made.others = [
        made.add_node(
            num_cpus=1, env_vars={"CI_EVAL_CACHE": str(cache), "TMPDIR": str(scratch)}, include_dashboard=False
        )
        for cache, scratch in zip(caches(tmp_path), scratches(tmp_path), strict=True)
    ]
    yield made
    made.shutdown()
    del made
    with warnings.catch_warnings():
        # Ray leaves its log files to the collector.
        warnings.simplefilter("ignore")
        gc.collect()


def files(folder: Path) -> int:
    """About how many files the engine has been asked so far."""
    return len(list((folder / "sessions").glob("*.zst")))


def busy(scratch: Path) -> bool:
    """Whether the node has the actions of a file, which it takes away when it is through."""
    return any(scratch.glob("ci-eval-node-*/*.zst"))


def parts(folder: Path) -> list[bytes]:
    """Everything that is not a time, to the byte."""
    files = [*sorted((folder / "actions").iterdir()), *sorted((folder / "errors").iterdir()), folder / "config.yaml"]
    return [path.read_bytes() for path in files]


def test_two_nodes_of_which_one_is_killed_give_what_one_process_gives(cluster: Any, tmp_path: Path) -> None:
    common = ("--project", SPEC, "--engine", "ngram", "--sessions", 4000)
    assert run("evaluate", *common, "--jobs", 1, "--output", tmp_path / "local")[0] == 0
    asked = start("evaluate", *common, "--executor", f"ray:{cluster.address}", "--output", tmp_path / "ray")
    wait_for(lambda: files(tmp_path / "ray") >= 1 and all(map(busy, scratches(tmp_path))), asked)
    cluster.remove_node(cluster.others[1], allow_graceful=False)
    at = files(tmp_path / "ray")
    _, err = asked.communicate(timeout=HANGS)
    assert asked.returncode == 0, err
    assert "is asked about again" in " ".join(err.split())
    assert at < files(tmp_path / "ray")
    assert timeless(tmp_path / "ray") == timeless(tmp_path / "local")
    assert parts(tmp_path / "ray") == parts(tmp_path / "local")
    manifests = [json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("local", "ray")]
    assert [each["statuses"] for each in manifests[:1]] == [each["statuses"] for each in manifests[1:]]
    assert manifests[1]["cpu"].startswith("2 machines")
    assert manifests[1]["jobs"] == 2
    for cache in caches(tmp_path):
        assert list((cache / "projects").glob("pypi-click*")), "the node did not prepare the project by itself"
    assert run("compare", tmp_path / "local", tmp_path / "ray", "--output", tmp_path / "c")[0] == 0


def test_where_no_machine_has_what_was_asked_about_the_run_ends_and_says_why(cluster: Any, tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER)
    config = patch(load(None).config, project=f"path:{project}", engine="words")
    prepared = prepare(config, Screen())
    workspace = runs.begin(prepared, tmp_path / "o", 1)
    pipeline.make_actions(workspace, prepared, 1, Screen())
    write(project, a__py=GREETER + "# changed\n")
    told: list[str] = []
    answers = runs.same_answers(workspace.manifest())
    del answers["shard"]
    executor = RayExecutor(cluster.address, Wanted(config=dump(config), answers=answers), tell=told.append)
    with pytest.raises(PreparationError, match="no machine of the cluster can take part: the project is"):
        pipeline.make_sessions([(workspace, prepared)], 1, Screen(), executor)
    assert len(told) == 2


def test_where_no_cluster_answers_the_command_that_starts_one_is_named(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER)
    code, err = run(
        "evaluate", "--project", f"path:{project}", "--engine", "words", "--executor", "ray:127.0.0.1:1",
        "--output", tmp_path / "o",
    )  # fmt: skip
    assert code == 4
    assert "ray start --head" in err
