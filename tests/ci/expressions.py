"""Expressions of workflows, evaluated by GitHub's own library: whether a job runs needs no run of the workflow."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from typing import Any

import yaml

from tests.ci.stand_ins import ROOT
from tests.ci.tools import github_expressions
from tests.waiting import HANGS


def jobs(workflow: str) -> dict[str, Any]:
    """Return the jobs of a workflow of ours."""
    text = (ROOT / ".github" / "workflows" / f"{workflow}.yml").read_text()
    return dict(yaml.safe_load(text)["jobs"])


def evaluate(text: str, **contexts: Mapping[str, Any]) -> Any:
    """Return the value of an expression, with or without `${{ }}`, in a run in which nothing has failed yet.

    As in Python, GitHub takes an empty text, zero and null for false.
    """
    stripped = re.sub(r"^\$\{\{(.*)\}\}$", r"\1", text.strip(), flags=re.DOTALL)
    done = subprocess.run(
        ["node", str(github_expressions())],
        input=json.dumps({"expression": stripped, "contexts": contexts}),
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stderr}"
    return json.loads(done.stdout)
