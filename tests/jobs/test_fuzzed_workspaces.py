"""Stored files changed at random and sealed again: every command works or refuses, soon, and never calls it a bug."""

from __future__ import annotations

import random
import shutil
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.logs.formats import digest
from ci_eval.core.workspace import PARTS, Workspace
from tests.command import command
from tests.needs import need_modules
from tests.packed import repack, unpacked
from tests.projects import GREETER, write

pytestmark = pytest.mark.slow

VALUES: tuple[object, ...] = (
    0, -1, 10**9, 10**30, 1e308, -1e308, 0.5, True, None, "", "\x1b[31m", "../../x", "a\0b", "x" * 1000, [], {}, [[]],
    "2024-01-01T00:00:00+00:00", "::set-env name=x::y",
)  # fmt: skip
RAW = (b"NaN", b"1e999", b'"\\ud800"', b"[" * 100_000, b'"\xff"', b'{"a":' * 50_000)
ROUNDS = 12
BYTES, SECONDS = 500_000_000, 10


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Finished evaluations, one of them with logs where they can be written, one asked at every prefix."""
    need_modules("lightgbm", "pyarrow")
    root = tmp_path_factory.mktemp("fuzzed")
    project = write(root / "p", **{f"f{number}__py": GREETER.replace("Greeter", f"G{number}") for number in range(4)})
    common = ("--project", f"path:{project}", "--engine", "words", "--jobs", 1)
    prefix = ("--set", "actions.strategy.prefix={name: EveryPrefix}")
    logs = ("--log-format", "parquet", "--log-format", "jsonl", "--log-format", "jetbrains")
    assert command("evaluate", *common, "--output", root / "night")[0] == 0
    assert command("evaluate", *common, "--output", root / "every", *prefix)[0] == 0
    assert command("generate-ml-logs", *common, "--output", root / "logs", *logs)[0] == 0
    other = Workspace(Path(shutil.copytree(root / "night", root / "other")))
    manifest = other.manifest()
    other.write_manifest(replace(manifest, project=replace(manifest.project, name="other", checksum="1" * 64)))
    other.seal()
    return {name: root / name for name in ("night", "every", "logs", "other")}


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of everything below a JSON value."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*place, key)
        yield from places(value[key], (*place, key))


def changed_json(data: bytes, chance: random.Random) -> bytes:
    """With one value in another's place, doubled, or gone."""
    value = msgspec.json.decode(data)
    *above, last = chance.choice(list(places(value)))
    holder = value
    for key in above:
        holder = holder[key]
    match chance.randrange(4):
        case 0:
            del holder[last]
        case 1:
            holder[last] = [holder[last]] * 2
        case 2:
            holder[last] = "@raw@"
        case _:
            holder[last] = chance.choice(VALUES)
    return msgspec.json.encode(value).replace(b'"@raw@"', chance.choice(RAW))


def changed_bytes(data: bytes, chance: random.Random) -> bytes:
    """With other bytes here and there, and perhaps no end."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 3, 20)) if changed else 0):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed[: chance.randrange(len(changed) + 1)] if chance.random() < 0.2 else changed)


def change(path: Path, chance: random.Random) -> None:
    data = path.read_bytes()
    if chance.random() < 0.2 or path.suffix not in {".zst", ".json"}:
        path.write_bytes(changed_bytes(data, chance))
    elif path.suffix == ".json":
        path.write_bytes(changed_json(data, chance))
    else:
        lines = unpacked(path).splitlines()
        if lines:
            number = chance.randrange(len(lines))
            lines[number] = changed_json(lines[number], chance)
        repack(path, lines)


def seal(folder: Path) -> None:
    """As whoever changed it would, as far as that goes."""
    logs = folder / "logs" / "manifest.json"
    try:
        if logs.exists():
            said = msgspec.json.decode(logs.read_bytes())
            said["files"] = [digest(folder / "logs" / each["path"], folder / "logs") for each in said["files"]]
            logs.write_bytes(msgspec.json.encode(said))
        workspace, manifest = Workspace(folder), folder / "manifest.json"
        account = msgspec.json.decode(manifest.read_bytes())
        account["digests"] = {part: workspace._digest(part) for part in PARTS}
        manifest.write_bytes(msgspec.json.encode(account))
    except (ValueError, RecursionError, TypeError, KeyError, OSError, WorkspaceError):
        return  # what was changed is the account itself


COMMANDS: dict[str, Callable[[dict[str, Path], Path, Path], tuple[object, ...]]] = {
    "report": lambda _, folder, out: ("report", folder),
    "compare": lambda nights, folder, out: ("compare", nights["night"], folder, "--output", out / "c"),
    "trend": lambda _, folder, out: ("compare", folder, "--history", out / "past", "--output", out / "c"),
    "merge": lambda nights, folder, out: ("merge", nights["other"], folder, "--output", out / "m"),
    "rerank": lambda _, folder, out: ("rerank", folder, "--completion-type", "FREQUENCY", "--output", out / "r"),
    "show": lambda _, folder, out: ("show", folder, "1"),
    "expect": lambda _, folder, out: ("expect", folder),
    "train-ranker": lambda _, folder, out: ("train-ranker", folder, "--output", out / "model"),
    "fit-user-model": lambda _, folder, out: ("fit-user-model", folder / "logs"),
}


@pytest.mark.parametrize("task", COMMANDS)
def test_a_changed_workspace_is_used_or_refused(nights: dict[str, Path], tmp_path: Path, task: str) -> None:
    chance = random.Random(task)
    of = {"train-ranker": "logs", "fit-user-model": "logs", "expect": "every"}.get(task)
    for number in range(ROUNDS):
        folder = tmp_path / f"{number}"
        shutil.copytree(nights[of or chance.choice(("night", "every", "logs"))], folder)
        files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "html" not in path.parts]
        changed = chance.choice(files)
        change(changed, chance)
        seal(folder)
        tracemalloc.start()
        began = time.process_time()
        code, out, err = command(*COMMANDS[task](nights, folder, tmp_path / f"out{number}"))
        took, peak = time.process_time() - began, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert code in {0, 1, 2, 3, 4, 5}, f"round {number}, {changed.name}: {err}"
        assert "\x1b" not in out + err
        assert (took < SECONDS, peak < BYTES) == (True, True), f"{took:.1f} s, {peak:,} bytes"
