"""docs/notebook.ipynb, cell by cell, as a reader runs it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

import ci_eval
from tests.needs import need_modules

nbclient, nbformat, _ = need_modules("nbclient", "nbformat", "ipykernel")

NOTEBOOK = Path(ci_eval.__file__).parents[1] / "docs" / "notebook.ipynb"

pytestmark = [pytest.mark.engine, pytest.mark.slow]


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Its code cells, with what they printed."""
    folder = tmp_path_factory.mktemp("notebook")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def said(cell: Any) -> str:
    return "".join(output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in cell["outputs"])


def test_every_cell_runs_and_says_something(executed: list[Any]) -> None:
    assert [cell.source for cell in executed if not said(cell).strip()] == []


def test_the_evaluation_is_of_the_sessions_that_the_text_says(executed: list[Any]) -> None:
    assert "400 of 400 sessions evaluated" in " ".join(said(executed[0]).split())


def test_no_output_is_kept_in_the_page() -> None:
    """Figures of one machine's Python would be old with the next."""
    assert not any(cell.get("outputs") for cell in nbformat.read(NOTEBOOK, as_version=4).cells)
