"""The packages that a project of npm, pnpm or yarn has itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.base.workspaces import find_members, read_catalogs, read_layout, read_members, source_roots
from ci_eval.fetch.locks import Groups, read_npm_ranges, read_python_requirements
from tests.projects import write

CORE = json.dumps({"name": "@acme/core"})
WEB = json.dumps({"name": "web"})


def folders(root: Path) -> dict[str, str]:
    return {name: folder.relative_to(root).as_posix() for name, folder in read_members(root).items()}


@pytest.mark.parametrize(
    "files",
    [
        {"package__json": json.dumps({"workspaces": ["libs/*", "./apps/web"]})},
        {"package__json": json.dumps({"workspaces": {"packages": ["libs/**", "apps/*", "!apps/old"]}})},
        {"package__json": "{}", "pnpm-workspace__yaml": "packages:\n  - libs/*\n  - apps/*\n  - '!**/old'\n"},
        {"package__json": json.dumps({"dependencies": {"@acme/core": "file:libs/core", "web": "link:./apps/web"}})},
    ],
    ids=["npm", "yarn", "pnpm", "paths"],
)
def test_members_are_read_where_each_client_reads_them(files: dict[str, str], tmp_path: Path) -> None:
    others = {"apps/old/package__json": json.dumps({"name": "old"}), "libs/node_modules/x/package__json": CORE}
    write(tmp_path, **files, **others, **{"apps/web/package__json": WEB})
    write(tmp_path, **{"libs/core/package__json": CORE})
    assert folders(tmp_path) == {"@acme/core": "libs/core", "web": "apps/web"}


@pytest.mark.parametrize("pattern", ["../out", "/tmp", "", ".", "./", "link", "none/*"])
def test_what_is_not_in_the_project_is_no_member(pattern: str, tmp_path: Path) -> None:
    write(tmp_path / "out", package__json=CORE)
    root = write(
        tmp_path / "p", package__json=json.dumps({"workspaces": [pattern], "dependencies": {"x": "file:../out"}})
    )
    (root / "link").symlink_to(tmp_path / "out")
    assert read_members(root) == {}


@pytest.mark.parametrize("name", ["../../x", "/x", "a/b", "@a/../b", ".."])
def test_a_name_that_could_lead_a_link_elsewhere_is_no_member(name: str, tmp_path: Path) -> None:
    write(tmp_path, package__json='{"workspaces": ["a"]}', **{"a/package__json": json.dumps({"name": name})})
    assert read_members(tmp_path) == {}
    write(tmp_path, package__json=json.dumps({"dependencies": {name: "file:a"}}))
    assert read_members(tmp_path) == {}


@pytest.mark.parametrize("text", ["[", "\xff", "[" * 100_000])
def test_a_manifest_that_cannot_be_read_is_named_or_has_no_members(text: str, tmp_path: Path) -> None:
    write(tmp_path, package__json=text)
    assert find_members(tmp_path) == {}
    with pytest.raises(PreparationError, match=r"Cannot read package\.json"):
        read_members(tmp_path)


def test_a_project_without_workspaces_has_no_members(tmp_path: Path) -> None:
    assert read_members(write(tmp_path, package__json=CORE)) == {}


def test_catalogs_of_pnpm_are_read_by_name(tmp_path: Path) -> None:
    write(tmp_path, **{"pnpm-workspace__yaml": "catalog: {x: ^1.0.0}\ncatalogs: {old: {x: 0.9.0}}\n"})
    assert read_catalogs(tmp_path) == {"": {"x": "^1.0.0"}, "old": {"x": "0.9.0"}}
    write(tmp_path, **{"pnpm-workspace__yaml": "catalog: [x]\n"})
    with pytest.raises(PreparationError, match="catalogs in pnpm-workspace"):
        read_catalogs(tmp_path)


def test_further_folders_of_packages_can_be_named(tmp_path: Path) -> None:
    root = write(tmp_path, package__json="{}", **{"odd/core/package__json": CORE})
    assert read_members(root) == {}
    assert read_members(root, [root / "odd/core"]) == {"@acme/core": root / "odd/core"}


def member(name: str, *needs: str) -> str:
    return f"[project]\nname = {name!r}\ndependencies = {list(needs)}\n"


UV = '[tool.uv.workspace]\nmembers = ["packages/*"]\nexclude = ["packages/old"]\n'
POETRY = '[tool.poetry]\nname = "top"\n[tool.poetry.group.dev.dependencies]\nnear = {path = "near"}\nfar = "^1"\n'


def test_members_of_a_workspace_are_the_projects_own(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": member("top", "Its_Dangerous>=1", "six") + UV,
        "packages/a/pyproject.toml": member("its.dangerous", "click", "top"),
        "packages/a/src/its/x.py": "",
        "packages/b/pyproject.toml": member("flat"),
        "packages/old/pyproject.toml": member("six"),
        "packages/none/x.py": "",
        "src/top/x.py": "",
    }
    root = write(tmp_path, **files)
    assert read_python_requirements(root) == ["six", "click"]
    roots = [place.relative_to(root).as_posix() for place in source_roots(root)]
    assert roots == ["src", "packages/a/src", "packages/b"]


@pytest.mark.parametrize("manifest", ['[tool.uv.sources]\nnear = {path = "near"}\n', POETRY])
def test_a_path_within_the_project_is_its_own(tmp_path: Path, manifest: str) -> None:
    write(tmp_path, **{"pyproject.toml": member("top", "near", "far") + manifest, "near/src/near.py": ""})
    assert read_python_requirements(tmp_path) == ["far"]
    assert source_roots(tmp_path) == (tmp_path / "near" / "src",)


@pytest.mark.parametrize(
    "source",
    [
        '{path = "../near"}',
        '{git = "https://host/near"}',
        '[{url = "https://h/x.whl"}]',
        '{index = "own"}',
        "{workspace = true}",
    ],
)
def test_what_lies_elsewhere_is_not_asked_for_at_a_registry(tmp_path: Path, source: str) -> None:
    write(tmp_path / "near", x__py="")
    root = write(tmp_path / "p", **{"pyproject.toml": member("top", "near") + f"[tool.uv.sources]\nnear = {source}\n"})
    with pytest.raises(PreparationError, match=r"near from .*, which no registry has"):
        read_python_requirements(root)


@pytest.mark.parametrize("pattern", ["../*", "/tmp/*", ".", "", "packages/../../*"])
def test_a_pattern_that_leaves_the_project_names_nothing(tmp_path: Path, pattern: str) -> None:
    write(tmp_path, **{"other/pyproject.toml": member("other")})
    root = write(tmp_path / "p", **{"pyproject.toml": f"[tool.uv.workspace]\nmembers = [{pattern!r}]\n"})
    assert read_layout(root).members == {}


def test_a_link_out_of_the_project_is_no_member(tmp_path: Path) -> None:
    write(tmp_path / "other", **{"pyproject.toml": member("other")})
    root = write(tmp_path / "p", **{"pyproject.toml": UV, "packages/x": ""})
    (root / "packages" / "link").symlink_to(tmp_path / "other")
    assert read_layout(root).members == {}


@pytest.mark.parametrize("manifest", ["[project\n", "project = 5\n", "[tool]\nuv = []\n", "[tool.uv]\nworkspace = 7\n"])
def test_a_manifest_of_another_shape_hides_no_src(tmp_path: Path, manifest: str) -> None:
    root = write(tmp_path, **{"pyproject.toml": manifest, "src/x.py": ""})
    assert source_roots(root) == (root / "src",)


GROUPS = """[project]
name = "p"
dependencies = ["a"]
[project.optional-dependencies]
Speed_Up = ["b"]
[dependency-groups]
test = ["c", {include-group = "lint"}]
lint = ["d", {include-group = "test"}]
"""


@pytest.mark.parametrize(
    ("groups", "wanted"),
    [((), "a"), (("test",), "acd"), (("speed-up",), "ab"), ("all", "abcd"), (("lint", "speed.up"), "adbc")],
)
def test_groups_and_extras_are_wanted_by_name(tmp_path: Path, groups: Groups, wanted: str) -> None:
    assert "".join(read_python_requirements(write(tmp_path, pyproject__toml=GROUPS), groups)) == wanted


@pytest.mark.parametrize(("groups", "wanted"), [((), 1), (("dev",), 2), ("all", 3)])
def test_extras_of_a_wheel_are_wanted_by_name(tmp_path: Path, groups: Groups, wanted: int) -> None:
    lines = ("a", "b>1; extra == 'dev' and python_version < '4'", 'c; extra=="docs"')
    write(tmp_path, **{"x-1__dist-info/METADATA": "".join(f"Requires-Dist: {line}\n" for line in lines)})
    read = read_python_requirements(tmp_path, groups)
    assert len(read) == wanted
    assert not any("extra" in text for text in read)


def test_a_group_that_is_not_there_is_named(tmp_path: Path) -> None:
    root = write(tmp_path, pyproject__toml=GROUPS)
    with pytest.raises(PreparationError, match="names 'tests', but the project has lint, speed-up, test"):
        read_python_requirements(root, ("tests",))


@pytest.mark.parametrize(
    ("version", "specifier"),
    [
        ("*", ""),
        ("^1.2.3", ">=1.2.3,<2"),
        ("^0.2", ">=0.2,<0.3"),
        ("~1.2.3", ">=1.2.3,<1.3"),
        ("~1", ">=1,<2"),
        ("1.2.*", "==1.2.*"),
        ("~=1.2", "~=1.2"),
        (">=1, <3", ">=1,<3"),
        (">= 1 <3", ">=1,<3"),
        ("^2.*", ">=2,<3"),
        ("^1 || ^2", ""),
    ],
)
def test_dependencies_of_poetry_are_written_as_pip_takes_them(tmp_path: Path, version: str, specifier: str) -> None:
    own = f'python = "^3.10"\nSix = "{version}"\nx = {{version = "1", optional = true}}\n'
    manifest = f'[tool.poetry.dependencies]\n{own}[tool.poetry.group.dev.dependencies]\ny = {{version = "2"}}\n'
    root = write(tmp_path, **{"pyproject.toml": manifest})
    assert read_python_requirements(root) == [f"Six{specifier}"]
    assert read_python_requirements(root, ("dev",)) == [f"Six{specifier}", "y==2"]


@pytest.mark.parametrize(
    ("fields", "requirement"),
    [
        ('version = "^2", extras = ["a", "b"]', "six[a,b]>=2,<3"),
        ('version = "*", platform = "win32"', "six; sys_platform == 'win32'"),
        ('version = "2", python = "^3.8"', "six==2; python_version >= '3.8' and python_version < '4'"),
        ('version = "*", python = ">=3.11.2"', "six; python_full_version >= '3.11.2'"),
        (
            'version = "*", markers = "os_name == \'a\' or os_name == \'b\'", python = "<3.11"',
            "six; (os_name == 'a' or os_name == 'b') and python_version < '3.11'",
        ),
    ],
)
def test_extras_and_conditions_of_poetry_are_kept(tmp_path: Path, fields: str, requirement: str) -> None:
    root = write(tmp_path, **{"pyproject.toml": f"[tool.poetry.dependencies]\nsix = {{{fields}}}\n"})
    assert read_python_requirements(root) == [requirement]


FILE = "[tool.setuptools.dynamic]\ndependencies = {file = ['needs/all.txt']}\n"


@pytest.mark.parametrize(
    ("manifest", "requirements"),
    [
        ("[tool.black]\n", ["six"]),
        ("[build-system]\nrequires = ['flit']\n", ["six"]),
        ("[project]\nname = 'x'\ndynamic = ['dependencies']\n", ["six"]),
        (f"[project]\nname = 'x'\ndynamic = ['dependencies']\n{FILE}", ["idna"]),
        ("[project]\nname = 'x'\n", []),
        ("[tool.poetry.dependencies]\nattrs = '*'\n", ["attrs"]),
    ],
)
def test_requirements_txt_is_read_if_pyproject_lists_no_dependencies(
    tmp_path: Path, manifest: str, requirements: list[str]
) -> None:
    files = {"pyproject.toml": manifest, "requirements.txt": "six\n", "needs/all.txt": "idna\n"}
    assert read_python_requirements(write(tmp_path, **files)) == requirements


def test_requirements_txt_may_include_files_of_the_project(tmp_path: Path) -> None:
    write(tmp_path / "other", x__txt="attrs\n")
    files = {
        "requirements.txt": "-r needs/all.txt\nsix\n-r ../other/x.txt\n",
        "needs/all.txt": "idna\n-r ../requirements.txt\n--requirement=more.txt # too\n",
        "needs/more.txt": "flit\n",
    }
    assert read_python_requirements(write(tmp_path / "p", **files)) == ["six", "idna", "flit"]


def test_a_file_of_dynamic_dependencies_may_have_an_absolute_path_below_the_project(tmp_path: Path) -> None:
    root, place = tmp_path / "p", tmp_path / "q" / ".." / "p" / "needs.txt"
    table = f"[project]\ndynamic = ['dependencies']\n[tool.setuptools.dynamic]\ndependencies = {{file = '{place}'}}\n"
    write(root, **{"pyproject.toml": table, "needs.txt": "six\n", "../q/a": ""})
    assert read_python_requirements(root) == ["six"]


def test_a_requirement_that_no_registry_has_is_told_with_its_file(tmp_path: Path) -> None:
    table = "[project]\ndynamic = ['dependencies']\n[project.optional-dependencies]\nd = ['x @ https://a/x.zip']\n"
    root = write(tmp_path, **{"pyproject.toml": table, "requirements.txt": "six\n"})
    with pytest.raises(PreparationError, match=r"^pyproject\.toml of the project requires 'x @"):
        read_python_requirements(root, ("d",))


def test_manifests_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    root = write(tmp_path, **{"package.json": '\ufeff{"dependencies": {"kleur": "^4"}}'})
    assert read_npm_ranges(root / "package.json") == {"kleur": "^4"}
    (root / "pyproject.toml").write_text("\ufeff[project]\nname = 'x'\ndependencies = ['six']\n")
    assert read_python_requirements(root) == ["six"]


def test_requirements_txt_may_be_in_utf_16(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("six\nidna\n", encoding="utf-16")
    assert read_python_requirements(tmp_path) == ["six", "idna"]


@pytest.mark.parametrize(
    "manifest",
    [
        {"requirements.txt": "-e ./core\nsix  # for all\n-e .\n"},
        {"requirements.txt": "./core[fast] ; python_version > '3'\nsix\n"},
        {"pyproject.toml": member("top", "core @ file:./core", "six")},
        {"pyproject.toml": member("top", "core @ file:///${PROJECT_ROOT}/core", "six")},
        {
            "pyproject.toml": member("top", "six")
            + '[tool.pdm.dev-dependencies]\ndev = ["-e file:///${PROJECT_ROOT}/core#egg=core"]\n'
        },
    ],
)
def test_a_requirement_that_is_a_folder_of_the_project_is_its_own(tmp_path: Path, manifest: dict[str, str]) -> None:
    root = write(tmp_path, **manifest, **{"core/src/core.py": ""})
    assert read_python_requirements(root) == ["six"]
    assert source_roots(root) == (root / "core" / "src",)


@pytest.mark.parametrize("line", ["-e ../near", "near @ file:../near", "/near", "./none", "-e git+https://host/near"])
def test_a_requirement_that_is_another_folder_is_refused(tmp_path: Path, line: str) -> None:
    write(tmp_path / "near", x__py="")
    root = write(tmp_path / "p", **{"requirements.txt": f"{line}\n"})
    with pytest.raises(PreparationError, match="which no registry has"):
        read_python_requirements(root)


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": "[tool.hatch.build.targets.wheel]\nsources = ['lib']\n"},
        {"pyproject.toml": "[tool.hatch.build]\ndev-mode-dirs = ['lib']\n"},
        {"pyproject.toml": "[tool.setuptools.package-dir]\ncore = 'lib/core'\n"},
        {"pyproject.toml": "[tool.maturin]\npython-source = 'lib'\n"},
        {"pyproject.toml": "[tool.scikit-build]\nwheel.packages = ['lib/core']\n"},
        {"setup.cfg": "[options]\npackage_dir =\n    = lib\npackages = find:\n"},
        {"setup.cfg": "[options.packages.find]\nwhere = lib\n"},
        {"setup.py": "setup(packages=find_packages('lib'), package_dir={'': 'lib'})\n"},
    ],
)
def test_folders_of_packages_are_read_where_build_backends_read_them(tmp_path: Path, files: dict[str, str]) -> None:
    root = write(tmp_path, **files, **{"lib/core/__init__.py": ""})
    assert root / "lib" in source_roots(root)


def test_tables_of_other_tools_name_no_folders_of_packages(tmp_path: Path) -> None:
    tools = "[tool.mypy]\npackages = ['top']\n[tool.other]\nwhere = 'lib'\n"
    root = write(tmp_path, **{"pyproject.toml": tools, "src/top.py": "", "lib/x.py": ""})
    assert source_roots(root) == (root / "src",)


@pytest.mark.parametrize("source", ['{git = "https://x.example/y"}', '{path = "../outside"}'])
@pytest.mark.parametrize("section", ["dev-dependencies", "group.dev.dependencies"])
def test_what_poetry_takes_from_elsewhere_is_requested_from_no_registry(
    section: str, source: str, tmp_path: Path
) -> None:
    manifest = f'[tool.poetry.dependencies]\npython = "^3.10"\n[tool.poetry.{section}]\ninternal = {source}\n'
    root = write(tmp_path, **{"pyproject.toml": manifest})
    with pytest.raises(PreparationError, match="internal"):
        read_python_requirements(root, "all")


@pytest.mark.parametrize("path", ["a\\u0000b", "loop"])
def test_a_folder_that_cannot_be_is_no_source_root(path: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    write(tmp_path, **{"pyproject.toml": f'[tool.setuptools]\npackage-dir = {{"" = "{path}"}}\n'})
    assert read_layout(tmp_path).roots == ()
