"""Caches: the stand-in does what actions/cache does, and our action takes from it what it put there, and nothing else.

GitHub's client talks to the server of caches that act has. The results are what actions/cache 27d5ce7 (v5.0.5) gave
there. Where CI_EVAL_ACTIONS names a folder with a checkout of it, called cache, that one is asked in place of the
stand-in.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from textwrap import dedent
from typing import Any, TypeVar

import pytest
import yaml

from ci_eval.ci.inputs import cache_key
from tests.ci.documentation import documented
from tests.ci.stand_ins import NODE, THEIRS, GitHub, github
from tests.projects import GREETER, write

Test = TypeVar("Test", bound=Callable[..., None])
ACTIONS = os.environ.get("CI_EVAL_ACTIONS", "")
CACHE = "actions/cache@55cc8345863c7cc4c66a329aec7e433d2d1c52a9"
CHECKOUT = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1"
UPLOAD = "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a"
SAVED = "Cache saved with key: CASE-a"
HIT = "Cache hit occurred on the primary key CASE-a, not saving cache."
MISS = "Failed to restore cache entry. Exiting as fail-on-cache-miss is set. Input key: CASE-a"
FAILING = "failing"
"""What is stored under `a` by a job that fails afterwards."""
CASES: list[tuple[str, dict[str, str], str, str]] = [
    ("", {}, "hit: restored:. outcome:success.", SAVED),
    ("a", {}, "hit:true restored:a. outcome:success.", HIT),
    ("A", {}, "hit:true restored:A. outcome:success.", HIT),
    ("ab", {}, "hit:false restored:ab. outcome:success.", SAVED),
    ("ba", {}, "hit: restored:. outcome:success.", SAVED),
    ("b1", {"restore-keys": "CASE-b"}, "hit:false restored:b1. outcome:success.", SAVED),
    ("a", {"path": "other-CASE"}, "hit: restored:. outcome:success.", SAVED),
    (
        "a",
        {"lookup-only": "true"},
        "hit:true restored:. outcome:success.",
        "Cache found and can be restored from key: CASE-a",
    ),
    ("", {"fail-on-cache-miss": "true"}, "hit: restored:. outcome:failure.", MISS),
    (FAILING, {}, "hit: restored:. outcome:success.", SAVED),
]
"""What an earlier job stored, the inputs of the next job, what that one prints, and what the action says there."""


def executed(test: Test) -> Test:
    """Mark what reads the run of act, which one worker makes once."""
    needs = pytest.mark.needs("go", "node", "npm")
    for mark in (pytest.mark.engine, pytest.mark.registry, needs, pytest.mark.xdist_group("caches")):
        test = mark(test)
    return test


def keeping(case: int, key: str, inputs: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the steps that cache a folder under a key, and make a file there that is called by the key."""
    cache = {"path": "kept-CASE", "key": f"CASE-{key}", **inputs}
    show = f'echo "case {case} hit:$HIT restored:$(ls kept-{case} 2> /dev/null | xargs). outcome:$OUTCOME."'
    return [
        {
            "id": f"cache-{case}",
            "uses": CACHE,
            # act may lose what a step printed right before its job failed.
            "continue-on-error": True,
            "with": {name: text.replace("CASE", str(case)) for name, text in cache.items()},
        },
        {
            "env": {
                "HIT": f"${{{{ steps.cache-{case}.outputs.cache-hit }}}}",
                "OUTCOME": f"${{{{ steps.cache-{case}.outcome }}}}",
            },
            "run": f"{show}; mkdir -p kept-{case} other-{case}; touch kept-{case}/{key}",
        },
    ]


def cases() -> dict[str, dict[str, Any]]:
    """Return the jobs of the cases: those that store, of which one fails at its end, and the one that is looked at."""
    stored: list[dict[str, Any]] = []
    failing: list[dict[str, Any]] = []
    taken: list[dict[str, Any]] = []
    for case, (key, inputs, _, _) in enumerate(CASES):
        if key:
            (failing if key == FAILING else stored).extend(keeping(case, "a" if key == FAILING else key, {}))
        taken += keeping(case, "a", inputs)
    job = {"runs-on": "ubuntu-latest", "permissions": {}}
    return {
        "store": {**job, "steps": stored},
        "fail": {**job, "steps": [*failing, {"run": "exit 1"}]},
        "take": {**job, "needs": ["store", "fail"], "if": "always()", "steps": taken},
    }


# ------------------------------------------------------------------------------------------------------- our own use

CONFIG = "language: python\nengine: jedi@0.18.2\nproject: pypi:six==1.16.0\ninterpret: {sessionsLimit: 20, seed: 1}\n"
FURTHER_JOBS = f"""
- uses: OWNER/ci-eval@COMMIT
  with: {{job: compare, base: workspace, new: workspace, gates: "RecallAt1 >= -1pp", output: comparison}}
- uses: OWNER/ci-eval@COMMIT
  with: {{job: generate-ml-logs, config: ci/completion.yaml, log-formats: jsonl, output: logs, cache: false}}
- uses: {UPLOAD}
  with: {{name: all, path: "workspace\\ncomparison\\nlogs"}}
"""


def figures(needs: str, *, seed: int = 1, further: str = "") -> dict[str, Any]:
    """Return a job with the documented line, which begins without what an earlier job installed."""
    begin = f'rm -rf "$CI_EVAL_CACHE"; sed -i "s/seed: 1/seed: {seed}/" ci/completion.yaml'
    steps = [{"uses": CHECKOUT}, {"run": begin}, *yaml.safe_load(dedent(documented("One line")) + further)]
    # Once the first one is over nothing can be downloaded any more.
    after = {"needs": needs, "if": "always()", "env": {"PIP_NO_INDEX": "1"}} if needs else {}
    return {"runs-on": "ubuntu-latest", "permissions": {"contents": "read"}, **after, "steps": steps}


@dataclass(frozen=True)
class Run:
    """A run of all these jobs."""

    hub: GitHub
    log: str

    def job(self, name: str) -> str:
        """Return what a job printed."""
        return "\n".join(line for line in self.log.splitlines() if re.match(rf"\[[^]]*/{name}\s*\]", line))

    def is_green(self, name: str) -> bool:
        """Return whether a job succeeded."""
        return "Job succeeded" in self.job(name)


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A maintainer's repository after the run."""
    folder = tmp_path_factory.mktemp("github")
    with github(folder, {}, write(folder / "p", main__py=GREETER), {}) as hub:
        if ACTIONS:
            shutil.rmtree(folder / "actions" / "cache")
            shutil.copytree(Path(ACTIONS) / "cache", folder / "actions" / "cache")
        config = hub.repository(THEIRS) / "ci" / "completion.yaml"
        config.parent.mkdir()
        config.write_text(CONFIG)
        jobs = {
            **cases(),
            "first": figures("", further=FURTHER_JOBS),
            "second": figures("first"),
            "another": figures("second", seed=2),
        }
        hub.call(THEIRS, "cached", yaml.safe_dump({"on": "push", "jobs": jobs}, sort_keys=False))
        variables = {"CI_EVAL_CACHE": str(folder / "kept-by-ci-eval")}
        _, log = hub.run("cached", 1, "push", THEIRS, caches=folder / "caches", variables=variables)
        yield Run(hub, log)


@executed
@pytest.mark.parametrize("case", range(len(CASES)))
def test_what_is_restored_and_saved_is_what_the_action_does(cached: Run, case: int) -> None:
    _, _, restored, said = CASES[case]
    log = cached.job("take")
    assert f"case {case} {restored}" in log, cached.log
    assert said.replace("CASE", str(case)) in log


@executed
def test_of_the_jobs_that_store_the_one_fails_that_is_meant_to(cached: Run) -> None:
    assert [cached.is_green(name) for name in ("store", "fail", "take")] == [True, False, True]


@executed
def test_a_second_job_takes_engine_and_project_from_the_cache_and_another_configuration_does_not(cached: Run) -> None:
    names = ("first", "second", "another")
    logs = [cached.job(name) for name in names]
    assert [cached.is_green(name) for name in names] == [True, True, False], cached.log
    assert ["No matching distribution found" in log for log in logs] == [False, False, True]
    assert ["Cache restored from key: ci-eval-" in log for log in logs] == [False, True, False]
    assert ["Cache saved with key: ci-eval-" in log for log in logs] == [True, False, False]


@executed
def test_the_action_evaluates_compares_and_logs_in_one_job_of_another_repository(cached: Run) -> None:
    folder = cached.hub.artifact(1, "all")
    (evaluation,) = json.loads((folder / "workspace" / "reports" / "metrics.json").read_text())["evaluations"]
    assert evaluation["filters"]["ALL"]["sessions"] > 0
    assert json.loads((folder / "comparison" / "comparison.json").read_text())["gates"][0]["passed"]
    assert list((folder / "logs" / "logs").glob("*.jsonl*"))


def test_no_key_begins_another_for_then_github_would_restore_it() -> None:
    keys = [cache_key({"engine": engine}) for engine in ("", "j", "jedi", "jedi@0.19.1")]
    assert not any(one.startswith(other) for one, other in permutations(keys, 2))


@pytest.mark.checkouts
def test_inputs_and_defaults_are_those_of_the_action() -> None:
    inputs = yaml.safe_load((Path(ACTIONS) / "cache" / "action.yml").read_text())["inputs"]
    assert {name: field.get("default", "") for name, field in inputs.items()} == NODE["cache"][1]
