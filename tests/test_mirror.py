"""Where a test stands: where its module does, as CONTRIBUTING says."""

from __future__ import annotations

from pathlib import Path

import ci_eval

PACKAGE = Path(ci_eval.__file__).parent
TESTS = Path(__file__).parent
GROUPS = ("core", "plugins")

# Behaviours of several modules: no module has their names.
BEHAVIOURS = {
    "cli": "messages",
    "adapters/endpoints": "kills llama logprobs prompts",
    "adapters/lsp": "endless malformed",
    "ci": "algorithms bootstrap caches documentation downloads issues locks moving_targets nights notices pages "
    "pull_requests releases runs site stand_ins steps teamcity_library teamcity_recipes teamcity_settings workflows",
    "fetch": "history",
    "graders": "sacrebleu subtokens",
    "engines": "dossiers driven hostile jdtls layouts network order real_lists rust_analyzer told",
    "jobs": "algorithms closures conditions configuring dependencies detecting draws fuzzed_workspaces grade "
    "hostile hostile_texts logs ml_trouble nights one_population precise random_kills recommenders rerank "
    "sides suite_comparing trust user_models",
    "jobs/datasets": "code_review unit_tests",
    "jobs/jetbrains": "exporting importing",
    "jobs/misses": "causes",
    "learning": "onnx",
    "languages": "declarations kinds modern oracles projects recorded samples",
    "reports": "accessibility comparison_in_browser figures_in_browser figures_script html_in_browser "
    "keyboard_in_browser sessions_in_browser site_in_browser",
    "mining/unit_tests": "projects",
    "exports": "notebook",
    "responses": "oracle",
    "tasks": "imports inside records silent third",
}


def mirrored(folder: Path) -> Path:
    """Return the folder of the package that a folder of tests mirrors. Tests leave `core/` and `plugins/` out."""
    inner = folder.relative_to(TESTS)
    return next((path for group in GROUPS if any((path := PACKAGE / group / inner).glob("*.py"))), PACKAGE / inner)


def is_named(test: Path) -> bool:
    """Return whether there is a module or package of the test's name, or its folder has that name."""
    folder, name = mirrored(test.parent), test.stem.removeprefix("test_")
    return (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists() or folder.name == name


def test_a_test_file_is_named_for_a_module_there_or_is_a_behaviour_in_the_list() -> None:
    unnamed = {
        f"{test.parent.relative_to(TESTS).as_posix()} {test.stem.removeprefix('test_')}"
        for test in TESTS.rglob("test_*.py")
        if test.parent != TESTS and not is_named(test)
    }
    listed = {f"{folder} {name}" for folder, names in BEHAVIOURS.items() for name in names.split()}
    assert unnamed - listed == set(), "name it for the module that it tests, or list it in BEHAVIOURS"
    assert listed - unnamed == set(), (
        "there is no such file, or there is a module of its name now: take it off the list"
    )


def test_a_folder_of_tests_mirrors_one_of_the_package() -> None:
    folders = {test.parent for test in TESTS.rglob("test_*.py")}
    assert [folder for folder in folders if not mirrored(folder).is_dir()] == []
