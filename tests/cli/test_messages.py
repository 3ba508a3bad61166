"""Wrong inputs: each message says what to do, and none is a traceback."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run

WRONG = {
    "evaluate p --engine words": "did you mean --project path:p?",
    "evaluate path:p --engine words": "did you mean --project path:p?",
    "evaluate pypi:click==8.1.7": "did you mean --project pypi:click==8.1.7?",
    "evaluate --project path:p --engine words --output p/a.py": "is a file, not a folder",
    "evaluate nosuch.yaml": "there is no such file; give the path of a YAML or JSON configuration",
    "evaluate --project p --engine words": "Did you mean path:p?",
    "evaluate --project path:nosuch --engine words": "A relative path counts from",
    "evaluate --project path:p/a.py --engine words": "is a file: give its folder",
    "evaluate --project pyp:flask --engine words": "Did you mean pypi:flask?",
    "evaluate --project path:p --engine wrds": "did you mean 'words'?",
    "evaluate --project path:p --engine 'python3 x'": "did you mean --engine-command",
    "evaluate --project path:p --engine-command 'python3 nosuch.py'": "there is no file",
    "evaluate --project path:p --engine-command nosuch-program": "no program 'nosuch-program' on PATH",
    "evaluate --project path:p --engine-command ''": "give NAME, NAME@VERSION, or the command",
    "evaluate --project path:p --engine words --engine-like jedi": "add --engine-command, or drop --engine-like",
    "evaluate --project path:p --language pyton": "did you mean 'python'?",
    "evaluate --project path:p --completion-type BASC": "did you mean 'BASIC'?",
    "evaluate --project path:p --task completon": "did you mean 'completion'?",
    "evaluate --project path:p --set interpret.sed=1": "did you mean seed?",
    "evaluate --project path:p --set sessions=5": "did you mean interpret.sessionsLimit or",
    "evaluate --project path:p --completion-type ML --model p/a.py": "is damaged: Expected `object`, got `str`)",
    "evaluate --project path:p --set interpret.seed=x": "expected a whole number",
    "evaluate --project path:p --gate 'Recal >= 1%'": "did you mean Recall?",
    "evaluate --project path:p --gate 'Recall >> 1'": "examples: 'RecallAt1 >= -1pp'",
    "evaluate --project path:p --shard 3/2": "I from 1 to N",
    "evaluate --project path:p --precision 1": "for example 1pp",
    "evaluate --project path:p --all --sessions 5": "leave one of them out",
    "evaluate --resume": "--resume needs --output DIR",
    "evalute": "Did you mean 'evaluate'?",
    "evaluate --sesions 5": "No such option '--sesions'. (Did you mean",
    "compare p p": "is not a workspace",
    "compare nosuch": "give the folder of an earlier run",
    "compare-engines words": "give BASE and NEW",
    "causes p": "give the folder of an earlier run",
    "report nosuch": "give the folder of an earlier run",
    "show p 12": "give the folder of an earlier run",
    "merge p": "Missing option '--output'",
    "site nosuch --output s": "give folders that `ci-eval compare --history` writes",
    "list engine": "'engines'",
    "schema metric": "'metrics'",
    "grade exat p": "did you mean 'exact'?",
    "train-ranker p --output m": "is not a workspace",
}


@pytest.mark.parametrize("words", WRONG)
def test_a_wrong_input_is_answered_by_what_to_do(
    words: str, run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.parent)
    code, _, err = run(*shlex.split(words))
    # What is missing on the machine cannot be prepared (4); all else is wrong usage.
    assert (code, WRONG[words] in " ".join(err.split())) == (4 if "PATH" in WRONG[words] else 2, True), err
    assert "Traceback" not in err


def test_a_folder_whose_name_is_not_utf_8_is_refused_from_inside_too(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = project.rename(os.fsdecode(os.fsencode(project.parent) + b"/alt_m\xfcll"))
    monkeypatch.chdir(odd)
    code, _, err = run("evaluate", "--project", "path:.", "--engine", "words", "--output", odd.parent / "o")
    assert (code, "give a symbolic link to it" in " ".join(err.split())) == (2, True), err


def test_what_is_not_a_mistake_for_certain_is_warned_of(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.parent)
    engine, sessions = ("--engine", "words"), ("--project", "path:p", "--sessions", "5", "--jobs", "1")
    code, _, err = run("evaluate", *engine, *sessions, "--resume", "--output", "new")
    assert (code, "so nothing is resumed: a new run begins" in " ".join(err.split())) == (0, True), err
    code, _, err = run("compare-engines", "words", "words", *sessions, "--output", "same")
    assert (code, "base and new are the same engine" in " ".join(err.split())) == (0, True), err
    code, _, err = run("compare-engines", "words", "empty", "words", *sessions, "--output", "three")
    assert (code, "01-words and 03-words are the same engine" in " ".join(err.split())) == (0, True), err


def test_a_project_without_files_of_the_language_is_answered_by_what_to_do(run: Run, project: Path) -> None:
    code, _, err = run("evaluate", "--project", f"path:{project}", "--engine", "words", "--language", "go")
    assert (code, "choose another --language" in " ".join(err.split())) == (3, True), err
