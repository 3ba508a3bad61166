"""Compile commands of a project, of which clangd gets only what is known to do no harm."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from ci_eval.plugins.adapters.lsp.compile_commands import Cleaned, CompileCommands, compile_commands
from tests.projects import write


def cleaned(root: Path, *flags: str, directory: str = ".") -> list[str]:
    """Return the flags that are left of a command for `a.cpp`."""
    return [*one(root, ["g++", *flags, "-c", "a.cpp"], directory).arguments[1:-1]]


def one(root: Path, arguments: Sequence[str], directory: str = ".") -> Cleaned:
    write(root, a__cpp="int a;\n")
    entry = {"directory": directory, "file": "a.cpp", "arguments": arguments}
    (root / "compile_commands.json").write_text(json.dumps([entry]))
    (entries,) = read(root).entries
    return entries


def read(root: Path) -> CompileCommands:
    compile_commands.cache_clear()
    return compile_commands(root)


HARMLESS = (
    "-std=c++20 --std=gnu11 -DA -DB=1 -UNDEBUG -Wall -Wno-error=x -pedantic-errors -fPIC -fno-exceptions "
    "-fvisibility=hidden -m64 -march=native -mavx2 -O2 -pthread -nostdinc++ -stdlib=libc++ --target=x86_64-linux-gnu"
).split(" ")


def test_what_is_harmless_stays_in_its_order(tmp_path: Path) -> None:
    assert cleaned(tmp_path, *HARMLESS) == HARMLESS
    assert read(tmp_path).summary() == ""


@pytest.mark.parametrize(
    ("flags", "left"),
    [
        (["-I", "include"], ["-Iinclude"]),
        (["-Iinclude", "-isystem", "/usr/include/x"], ["-Iinclude", "-isystem", "/usr/include/x"]),
        (["-isysteminclude"], ["-isystem", "include"]),
        (["-include", "config.h", "-D", "A"], ["-include", "config.h", "-DA"]),
        (["-xc++", "-target", "arm-none-eabi"], ["-x", "c++", "-target", "arm-none-eabi"]),
        (["-arch", "arm64", "-DC=x y"], ["-arch", "arm64", "-DC=x y"]),
        (["--sysroot=/usr"], ["--sysroot=/usr"]),
        (["-o", "a.o", "-MD", "-MF", "a.d", "-lm", "-Wl,-z,now"], []),
    ],
)
def test_flags_with_values_are_written_in_one_way(tmp_path: Path, flags: list[str], left: list[str]) -> None:
    assert cleaned(tmp_path, *flags) == left
    assert read(tmp_path).summary() == ""


@pytest.mark.parametrize(
    "flags",
    [
        ["-Xclang", "-load", "-Xclang", "./evil.so"],
        ["-Xclang", "-diagnostic-log-file", "-Xclang", "/tmp/log"],
        ["-fplugin=./evil.so"],
        ["-fpass-plugin=./evil.so"],
        ["-fmodules", "-fmodules-cache-path=/tmp/cache"],
        ["-fmodule-file=x.pcm"],
        ["-fprebuilt-module-path=."],
        ["-mllvm", "-load=./evil.so"],
        ["-mllvm=-load=./evil.so"],
        ["-Wp,-MD,/tmp/deps"],
        ["-Wa,-I/"],
        ["-include", "/etc/passwd"],
        ["-include../../secret"],
        ["-imacros", "/proc/self/environ"],
        ["-I/etc"],
        ["-I", ".."],
        ["-isystem", "out"],
        ["-iquote/root"],
        ["--sysroot=/home"],
        ["-isysroot", "/home"],
        ["-include-pch", "a.pch"],
        ["--config", "clang.cfg"],
        ["--config=clang.cfg"],
        ["-working-directory", "/"],
        ["-working-directory=/"],
        ["-ivfsoverlay", "map.yaml"],
        ["-resource-dir", "."],
        ["-B."],
        ["-ccc-gcc-name", "./evil.sh"],
        ["--gcc-toolchain=."],
        ["-wrapper", "./evil.sh"],
        ["-fuse-ld=./evil.sh"],
        ["-fprofile-use=/tmp/x"],
        ["-ftime-trace=/tmp/x"],
        ["-fcrash-diagnostics-dir=/tmp"],
        ["-fsanitize-ignorelist=/etc/passwd"],
        ["-serialize-diagnostics", "/tmp/x"],
        ["--serialize-diagnostics=/tmp/x"],
        ["-gen-cdb-fragment-path", "/tmp"],
        ["-MJ/tmp/x", "-gsplit-dwarf=/tmp"],
        ["-x", "ast"],
        ["-D"],
        ["-U", "-Xclang"],
        ["@/etc/passwd"],
        ["@missing.rsp"],
        ["-a-flag-of-tomorrow=/tmp"],
        ["--analyze", "-analyzer-output=html"],
    ],
    ids=" ".join,
)
def test_what_is_not_known_to_be_harmless_goes_and_is_counted(tmp_path: Path, flags: list[str]) -> None:
    root = tmp_path / "p"
    root.mkdir()
    (root / "out").symlink_to("/root")
    left = cleaned(root, *flags)
    # The value of `-D` or `-U` at the end is the next flag, as it is for the compiler.
    assert left in ([], ["-D-c"])
    if left == []:
        assert read(root).dropped.total() >= 1
        assert "not on the list of harmless flags" in read(root).summary()


@pytest.mark.parametrize(
    ("compiler", "left"),
    [
        ("./evil.sh", "evil.sh"),
        ("/usr/bin/arm-none-eabi-g++", "arm-none-eabi-g++"),
        ("--version", "clang"),
        ("", "clang"),
    ],
)
def test_of_a_compiler_only_its_name_stays(tmp_path: Path, compiler: str, left: str) -> None:
    assert one(tmp_path, [compiler, "a.cpp"]).arguments[0] == left
    assert one(tmp_path, ["/opt/ccache", compiler, "a.cpp"]).arguments[0] == left


def test_a_command_is_split_as_a_shell_would(tmp_path: Path) -> None:
    write(tmp_path, a__cpp="")
    command = r"c++ -DA=\"x\" '-DB=y z' -c a.cpp"
    entry = {"directory": str(tmp_path), "file": str(tmp_path / "a.cpp"), "command": command}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry, entry | {"command": "c++ 'open"}]))
    (left,) = read(tmp_path).entries
    file = str(tmp_path / "a.cpp")
    assert left == Cleaned(str(tmp_path), file, ["c++", '-DA="x"', "-DB=y z", file])


@pytest.mark.parametrize("directory", ["/", "..", "/etc", "out"])
def test_a_command_outside_the_project_is_no_command(tmp_path: Path, directory: str) -> None:
    root = write(tmp_path / "p", a__cpp="")
    (root / "out").symlink_to("/root")
    entry = {"directory": directory, "file": "a.cpp", "arguments": ["c++", "-DA", "a.cpp"]}
    (root / "compile_commands.json").write_text(json.dumps([entry]))
    assert [command.arguments for command in read(root).entries] == [["clang", str(root / "a.cpp")]]
    assert read(root).dropped == {"commands of files outside the project": 1}


def test_the_nearest_database_above_a_file_counts(tmp_path: Path) -> None:
    write(tmp_path, **{"a.cpp": "", "sub/d.cpp": "", "other/e.cpp": ""})
    write(tmp_path, **{"flat/b.cpp": "", "flat/c.h": "", "flat/compile_flags.txt": "-DB\n-Xclang\n -load\n"})
    entries = [{"directory": ".", "file": name, "arguments": ["c++", "-DA", name]} for name in ("a.cpp", "flat/b.cpp")]
    write(tmp_path, **{"build/compile_commands.json": json.dumps([entry | {"directory": ".."} for entry in entries])})
    write(tmp_path, **{"sub/compile_commands.json": "[not json"})
    left = {Path(entry.file).name: entry.arguments[1:-1] for entry in read(tmp_path).entries}
    # e.cpp is in no list, and clangd infers its command from a.cpp's; d.cpp's list cannot be read.
    assert left == {"a.cpp": ["-DA"], "b.cpp": ["-DB"], "c.h": ["-DB"], "d.cpp": []}
    assert read(tmp_path).dropped["sub/compile_commands.json (unreadable)"] == 1


def test_a_database_in_the_folder_of_a_preset_counts_for_the_files_that_it_names(tmp_path: Path) -> None:
    write(tmp_path, **{"src/a.cpp": "", "src/b.h": "", "lib/c.cpp": "", "lib/compile_flags.txt": "-DLIB\n"})
    for preset, file in (("debug", "../../src/a.cpp"), ("release", "../../src/a.cpp"), ("debug", "../../lib/c.cpp")):
        path = tmp_path / "build" / preset / "compile_commands.json"
        entries = json.loads(path.read_text()) if path.exists() else []
        entry = {"directory": ".", "file": file, "arguments": ["c++", f"-D{preset}", file]}
        write(tmp_path, **{f"build/{preset}/compile_commands.json": json.dumps([*entries, entry])})
    left = {Path(entry.file).name: entry.arguments[1:-1] for entry in read(tmp_path).entries}
    # clangd infers the command of b.h from that of a.cpp.
    assert left == {"a.cpp": ["-Ddebug"], "c.cpp": ["-DLIB"]}


@pytest.mark.parametrize(
    ("beside", "language"),
    [
        (("a.cpp",), "c++"),
        (("a.c", "b.cc"), "c++"),
        (("a.c",), "c"),
        ((), "c++"),
        (("a.c", "b.cpp", "sub/c.mm"), "objective-c++"),
        (("a.c", "b.m"), "objective-c++"),
    ],
)
def test_a_header_without_a_command_is_in_the_language_of_the_project(
    tmp_path: Path, beside: Sequence[str], language: str
) -> None:
    write(tmp_path, **dict.fromkeys((*beside, "include/h.h"), ""))
    flags = {Path(entry.file).name: entry.arguments[1:-1] for entry in read(tmp_path).entries}
    assert flags.pop("h.h") == [f"-x{language}-header"]
    assert flags == {Path(name).name: [] for name in beside if Path(name).suffix in {".c", ".cc", ".cpp"}}


def test_a_project_without_database_and_headers_needs_no_commands(tmp_path: Path) -> None:
    write(tmp_path, a__cpp="", b__hpp="")
    assert read(tmp_path).entries == []


def test_commands_that_fresh_servers_would_read_too_long_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, **{"a.cpp": '#include "h.h"\n', "include/h.h": ""})
    assert len(read(tmp_path).entries) == 2
    monkeypatch.setattr("ci_eval.plugins.adapters.lsp.compile_commands.MOST_FLAGS", 1)
    assert read(tmp_path).entries == []


@pytest.mark.parametrize("text", ["{}", "[1]", "[" * 100_000, "\xff", '[{"file": 1}]', '[{"file": "\\u0000"}]', "[{}]"])
def test_a_database_that_is_none_is_counted(tmp_path: Path, text: str) -> None:
    write(tmp_path, a__cpp="")
    (tmp_path / "compile_commands.json").write_text(text, encoding="latin-1")
    assert read(tmp_path).dropped.total() == 1


def test_without_a_database_there_is_nothing_to_write_but_an_empty_list(tmp_path: Path) -> None:
    commands = read(write(tmp_path / "p", a__cpp="", __clangd="CompileFlags: {Add: [-fplugin=./evil.so]}\n"))
    commands.write(tmp_path)
    assert msgspec.json.decode((tmp_path / "compile_commands.json").read_bytes()) == []
    assert commands.dropped == {".clangd": 1}
