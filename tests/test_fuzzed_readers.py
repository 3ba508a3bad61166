"""Foreign bytes in every reader: only the errors that it declares leave it, whatever it is given, and it ends.

`CI_EVAL_FUZZ_EXAMPLES=5000` tries as many examples of each reader, others in each run; by default it is a few.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ci_eval.core.actions.files import find_left_out
from ci_eval.core.base import stored, workspaces
from ci_eval.core.base.errors import ConfigError, EngineFailure, PreparationError, WorkspaceError
from ci_eval.core.config import load
from ci_eval.core.model import Session
from ci_eval.core.records import neutral, read_mera_line
from ci_eval.core.workspace import Workspace, read_actions
from ci_eval.fetch import dataset, git, locks, project
from ci_eval.plugins.adapters import jars, python_paths
from ci_eval.plugins.adapters.endpoints import store, wire
from ci_eval.plugins.adapters.endpoints.trouble import Trouble
from ci_eval.plugins.adapters.lsp.compile_commands import compile_commands
from ci_eval.plugins.adapters.lsp.completion import Question
from ci_eval.plugins.adapters.lsp.protocol import UNREADABLE, read_answer
from ci_eval.plugins.adapters.process import MessageProcess
from ci_eval.plugins.learning import rankers
from ci_eval.plugins.learning.recommenders import model as recommender_file

EXAMPLES = os.environ.get("CI_EVAL_FUZZ_EXAMPLES", "")
DEEP = 100_000

Reader = Callable[[bytes, Path], object]


def _put(data: bytes, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _manifest(data: bytes, folder: Path) -> None:
    _put(data, folder / "manifest.json")
    Workspace(folder).manifest()


def _sessions(data: bytes, folder: Path) -> None:
    for content in (data, stored.pack([data])):
        path = _put(content, folder / "sessions" / "a.jsonl.zst")
        for _, sessions in Workspace(folder).read_session_files([path], Session):
            list(sessions)


def _packed(data: bytes, folder: Path) -> None:
    read_actions(_put(stored.pack([data]), folder / "a.json.zst"))


def _raw(data: bytes, folder: Path) -> None:
    read_actions(_put(data, folder / "a.json.zst"))


def _lsp_messages(data: bytes, _folder: Path) -> None:
    server = MessageProcess.__new__(MessageProcess)
    server.name, server._length, server._received = "fuzzed", -1, bytearray(data)
    while server._message() is not None:
        pass


def _lsp_answer(data: bytes, _folder: Path) -> None:
    Question("text.", 5, "", "utf-16").offers(read_answer(data), re.compile(r"\w+"))


def _stream(data: bytes, _folder: Path) -> None:
    middle = len(data) // 2
    list(wire.objects([data[:middle], data[middle:]]))


def _whole(data: bytes, _folder: Path) -> None:
    wire._parse(data)


def _dataset(data: bytes, folder: Path) -> None:
    path = _put(data, folder / "a.jsonl")
    for _, line in dataset.prepare(str(path), cache=folder / "cache").lines():
        if isinstance(line, dict):
            for read in (neutral, read_mera_line):
                read(line)


def _python(name: str) -> Reader:
    def read(data: bytes, folder: Path) -> None:
        _put(data, folder / name)
        locks.read_python_requirements(folder)
        locks.is_pinned(folder)

    return read


def _text(read: Callable[[str], object]) -> Reader:
    return lambda data, _folder: read(data.decode(errors="surrogateescape"))


def _compile_commands(name: str) -> Reader:
    def read(data: bytes, folder: Path) -> None:
        _put(data, folder / name)
        _put(b"", folder / "a.cpp")
        compile_commands.cache_clear()
        compile_commands(folder).write(folder)

    return read


def _pth(data: bytes, folder: Path) -> None:
    _put(data, folder / "lib" / "python3.11" / "site-packages" / "x.pth")
    python_paths.package_paths(folder)


SAMPLE = b'{"directory": ".", "file": "a.cpp", "arguments": ["c++", "-I", "x", "@y"], "command": "c++ -DA"}'
LOCK = b'{"lockfileVersion": 3, "packages": {"node_modules/a": {"version": "1", "resolved": "https://x/y"}}}'
STORED = b'{"request": {"address": "http://x", "body": {}, "repeat": 0}, "answer": {}}'
READERS: dict[str, tuple[Reader, bytes, tuple[type[Exception], ...]]] = {
    "manifest": (_manifest, b'{"format": 2, "engine": {"name": "x"}, "stages": {}}', (WorkspaceError,)),
    "sessions": (_sessions, b'{"path": "a.py"}\n{"id": "1", "lookups": []}\n', (WorkspaceError,)),
    "actions": (_packed, b'{"path": "a.py", "actions": [], "sessions": 0}', (WorkspaceError,)),
    "packed actions": (_raw, stored.pack([b'{"path": "a.py"}']), (WorkspaceError,)),
    "configuration": (
        lambda data, folder: load(_put(data, folder / "c.yaml")),
        b"language: python\nproject: path:.\nreports: {gates: [a]}\n",
        (ConfigError,),
    ),
    "ranker": (
        lambda data, folder: rankers.load(_put(data, folder / "m")),
        b'{"format": 1, "booster": "", "digest": ""}',
        (ConfigError,),
    ),
    "recommender": (lambda data, folder: recommender_file.load(_put(data, folder / "m")), b"PK\3\4", (ConfigError,)),
    "records": (_dataset, b'{"context": {"a": "b"}, "references": ["x"]}\n', (ConfigError, ValueError)),
    "LSP messages": (_lsp_messages, b"Content-Length: 2\r\n\r\n{}", (EngineFailure,)),
    "LSP answer": (_lsp_answer, b'{"isIncomplete": false, "items": [{"label": "a", "kind": 3}]}', UNREADABLE),
    "stream": (_stream, b'data: {"choices": []}\n\nerror: {}\ndata: [DONE]\n', (Trouble,)),
    "answer of an endpoint": (_whole, b'{"choices": [{"text": "a"}]}', (Trouble,)),
    "stored answers": (
        lambda data, folder: store.Answers(folder / "a.sqlite").take([data], "x"),
        STORED,
        (ConfigError,),
    ),
    "package.json": (
        lambda data, folder: locks.read_npm_ranges(_put(data, folder / "package.json")),
        b'{"dependencies": {"a": "1"}}',
        (PreparationError,),
    ),
    "npm lock": (
        lambda data, folder: locks.write_npm_lock(
            _put(b'{"dependencies": {"a": "1"}}', folder / "package.json"),
            _put(data, folder / "package-lock.json"),
            folder,
            (),
        ),
        LOCK,
        (PreparationError,),
    ),
    "go.mod": (
        lambda data, folder: locks.write_go_modules(_put(data, folder / "p" / "go.mod").parent, folder),
        b"module a\n\ngo 1.20\nrequire (\n\tb v1.0.0\n)\nreplace b => ./b\n",
        (PreparationError,),
    ),
    "go.work": (
        lambda data, folder: locks.write_go_modules(_put(data, folder / "p" / "go.work").parent, folder),
        b"go 1.20\n\nuse (\n\t./a\n)\nreplace b => ./b\n",
        (PreparationError,),
    ),
    "pom.xml": (
        lambda data, folder: jars.read_needs(_put(data, folder / "pom.xml").parent),
        b"<project><modules><module>a</module></modules><properties><a>1</a></properties></project>",
        (PreparationError,),
    ),
    "pnpm-workspace.yaml": (
        lambda data, folder: workspaces.read_members(_put(data, folder / "pnpm-workspace.yaml").parent),
        b"packages: ['a/*', '!b']\ncatalog: {x: 1}\n",
        (PreparationError,),
    ),
    "gitattributes": (
        lambda data, folder: list(find_left_out(_put(data, folder / ".gitattributes").parent, ["a.py"], ())),
        b"*.py linguist-generated\na/** -linguist-vendored\n",
        (),
    ),
    "requirements.txt": (_python("requirements.txt"), b"six==1.16.0 # x\n-e .\n", (PreparationError,)),
    "pyproject.toml": (
        _python("pyproject.toml"),
        b'[project]\nname = "x"\ndependencies = ["a"]\n',
        (PreparationError,),
    ),
    "git address": (_text(lambda url: git.check_address(url, "main")), b"https://x/y", (ConfigError,)),
    "git page": (_text(git.parse_page), b"https://github.com/a/b/tree/main", (ConfigError,)),
    "git revision": (_text(lambda revision: git.check_address("https://x/y", revision)), b"main", (ConfigError,)),
    "SPEC": (_text(project.parse), b"git:https://x/y@main", (ConfigError,)),
    "compile_commands.json": (_compile_commands("compile_commands.json"), b"[" + SAMPLE + b"]", ()),
    "compile_flags.txt": (_compile_commands("compile_flags.txt"), b"-I\nx\n-Xclang\n-load\n", ()),
    ".pth": (_pth, b"folder\nimport os\n", ()),
}
"""Name → the reader, what it could be given, and the errors that it declares."""

NASTY = (
    b"[" * DEEP,
    b'{"a":' * DEEP,
    b"[[" * 500 + b"]]" * 500,
    b"a = " + b"[" * DEEP,
    b"{a: " * 2000,
    b"&a [*a, *a]",
    b"\xff\xfe\x00",
    b"\xef\xbb\xbf",
    b'"\\ud800"',
    b"1e999",
    b"NaN",
    b"9" * 5000,
    b"-1",
    b"null",
    b'{"\x00": 1}',
    b"a" * 100_000,
    b"\r\n\r\n",
    b"Content-Length: 999999999999\r\n\r\n",
    b"Content-Length: -1\r\n\r\n",
    b"http://[::1",
    b"https://x:99999999/",
    b"../" * 200,
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
foreign = st.one_of(
    st.binary(max_size=60), values.map(lambda value: json.dumps(value).encode()), st.sampled_from(NASTY)
)


def _changed(seed: bytes) -> st.SearchStrategy[bytes]:
    """Return a strategy for the sample with a part of it replaced."""
    places = st.integers(0, len(seed))
    return st.builds(
        lambda one, two, part: seed[: min(one, two)] + part + seed[max(one, two) :], places, places, foreign
    )


@pytest.mark.parametrize("name", READERS)
def test_only_declared_errors_leave_a_reader(name: str) -> None:
    read, seed, declared = READERS[name]

    @settings(
        max_examples=int(EXAMPLES or 10),
        deadline=None,
        derandomize=not EXAMPLES,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @example(seed)
    @given(st.one_of(foreign, _changed(seed)))
    def check(data: bytes) -> None:
        assert_reads(read, data, declared)

    check()


@pytest.mark.parametrize("name", READERS)
def test_what_has_broken_readers_before_breaks_none(name: str) -> None:
    read, seed, declared = READERS[name]
    for data in (b"", *NASTY, *(seed[: len(seed) // 2] + part for part in NASTY)):
        assert_reads(read, data, declared)


def assert_reads(read: Reader, data: bytes, declared: tuple[type[Exception], ...]) -> None:
    with TemporaryDirectory() as folder, suppress(*declared):
        read(data, Path(folder))
