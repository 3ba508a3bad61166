"""Imports of TypeScript are read, taken out, and followed to what they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.grammar.importing.ecmascript import SYNTAX
from ci_eval.core.import_syntax import Project

TEXT = """import { one } from "./a";
import type { Two, type Three as Drei } from './b.js'
import Four, { five } from "four";
import {
  six,
  seven,
} from "../c";
import { eight, /* not nine */ nine } from "d";
import { ten } from "e";
import { ten } from "f";
"""


def test_names_that_stand_alone_can_be_removed() -> None:
    imports = {item.name: item for item in SYNTAX.read(TEXT) if item.removable}
    assert {name: TEXT[item.begin : item.end] for name, item in imports.items()} == {
        "one": 'import { one } from "./a";\n',
        "Two": "Two, ",
        "six": "six,\n  ",
        "seven": ",\n  seven",
    }
    assert {item.name for item in SYNTAX.read(TEXT)} >= {"Drei", "five", "eight", "ten"}


FILES = {
    "src/index.ts": 'export * from "./inner";\nexport { Box as Case } from "./goods.js";\n',
    "src/inner/index.ts": 'import { Lid } from "../goods";\nexport { Lid };\nexport const inner = 1;\n',
    "src/goods.ts": "export class Box {}\nexport interface Lid {}\nfunction hidden() {}\nexport { hidden };\n",
    "src/loop.ts": 'export * from "./loop";\n',
    "src/other.ts": "export class Box {}\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "package.json").write_text('{"name": "shop", "types": "./src/index.ts"}')
    return Project(tmp_path, None)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (("./index", "Case"), ("./goods", "Box"), True),
        (("./inner", "Lid"), ("./goods", "Lid"), True),
        (("./index", "Lid"), ("src/goods", "Lid"), True),
        (("./index", "inner"), ("./inner/index.js", "inner"), True),
        (("./other", "Box"), ("./goods", "Box"), False),
        (("./loop", "Box"), ("./goods", "Box"), False),
        (("rxjs", "Box"), ("./goods", "Box"), False),
        (("shop", "Case"), ("./goods", "Box"), True),
        (("shop/src/goods", "Box"), ("./goods", "Box"), True),
    ],
)
def test_re_exports_are_followed(project: Project, first: tuple[str, str], second: tuple[str, str], same: bool) -> None:
    modules = SYNTAX.modules(project)
    assert (modules.origin("src/main.ts", *first) == modules.origin("src/main.ts", *second)) == same


def test_a_module_has_one_identity(project: Project) -> None:
    modules = SYNTAX.modules(project)
    assert len({modules.identify("src/main.ts", name) for name in ("./goods", "./goods.js", "src/goods")}) == 1
    assert modules.identify("src/main.ts", "rxjs") == "rxjs"


def test_a_module_outside_of_the_project_is_none_of_its_own(project: Project, tmp_path: Path) -> None:
    (tmp_path.parent / "secret.ts").write_text("export const key = 1;\n")
    assert SYNTAX.modules(project).origin("src/main.ts", "../../secret", "key") == ("../../secret", "key")
