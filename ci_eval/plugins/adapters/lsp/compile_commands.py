"""The compile commands of C and C++ projects, reduced to harmless flags.

A flag can make clangd load a library, write a file or read a file outside the project (`-Xclang -load`,
`-fmodules-cache-path`, `-include`). So ci-eval writes its own database for clangd. Flags that are not listed below are
dropped and counted.
"""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import msgspec

from ci_eval.core.base.files import is_own, read_own
from ci_eval.plugins.adapters.process import SYSTEM
from ci_eval.plugins.languages.cpp.imports import Command, folders, sources

NAME = "compile_commands.json"
DATABASES = (NAME, f"build/{NAME}", "compile_flags.txt")
"""Databases in clangd's order (`DirectoryCache` in clang-tools-extra/clangd/GlobalCompilationDatabase.cpp, LLVM 22)."""
LARGEST = 64 * 2**20
MOST_FLAGS = 500_000
"""If a project has no database, ci-eval writes a database, but none with more flags than this: the clangd for each file
reads the whole database."""
CPP = frozenset(".cc .cpp .cxx .hh .hpp .hxx .ipp .inl".split())
OBJECTIVE_C = (".m", ".mm")

ALONE = re.compile(
    r"""
    -ansi | -w | -pedantic(-errors)? | -pthread | -undef | -trigraphs | -nostd(inc|lib)(\+\+)? | -nobuiltininc
  | -O\w* | -g[0-3]? | --driver-mode=(gcc|g\+\+|cpp)
  | --?std=[\w+:]+ | -stdlib=[\w+]+ | --target=[\w.+-]+
    # -Wl, -Wa and -Wp hand any flag on to the linker, assembler or preprocessor, as -mllvm does to LLVM.
  | -W(?![lap],)[\w+=-]* | -m(?!llvm|mlir)[\w-]+(=[\w.+-]+)?
    # Modules are written to a cache.
  | -f(?!module)[\w+-]+ | -f[\w-]+=\d[\d.]*
  | -f(visibility|(no-)?sanitize|openmp|lto|fp-model|fp-contract|cf-protection|diagnostics-color|trivial-auto-var-init
      |exec-charset|input-charset)=[\w,+:-]+
    """,
    re.VERBOSE,
)
"""Matches flags that name no file and only change the meaning of the code."""
VALUES = {
    "-D": re.compile(r".+", re.DOTALL),
    "-U": re.compile(r"\w+"),
    "-x": re.compile(r"(c|c\+\+|objective-c|objective-c\+\+|cuda|cpp-output)(-header)?|none"),
    "-arch": re.compile(r"\w+"),
    "-target": re.compile(r"[\w.+-]+"),
}
"""Flag → the pattern of its value, which is the next argument. The value of a flag with one letter may be attached."""
PATHS = ("-isystem-after", "-isystem", "-iquote", "-idirafter", "-iframework", "-include", "-imacros", "-isysroot")
"""Flags whose value is a path, perhaps attached. The path must be in the project or in a folder of the system."""
SEPARATE = frozenset(
    "-Xclang -Xpreprocessor -Xlinker -Xassembler -Xanalyzer -Xarch_host -Xarch_device -Xopenmp-target -Xcuda-ptxas "
    "-mllvm -mmlir -load -o -MF -MT -MQ -MJ -T -u -z -e -l -L -B -framework --param -wrapper -ccc-gcc-name "
    "-working-directory --config -ivfsoverlay -include-pch -include-pth -imultilib -iprefix -iwithprefix "
    "-iwithprefixbefore -iwithsysroot -cxx-isystem -serialize-diagnostics --serialize-diagnostics -dumpdir -dumpbase "
    "-dumpbase-ext -rpath -install_name -current_version -compatibility_version -G -A -plugin -add-plugin --sysroot "
    "-resource-dir --output --language --include --imacros --prefix -F".split()
)
"""Flags that are dropped together with their value, the next argument."""
OUTPUT = re.compile(r"-(c|S|E|P|C|M[DGMPV]*|M[FTQ].*|o.*|l.*|L.*|Wl,.*|s|v|pipe|shared|static|rdynamic|save-temps)")
"""Matches flags about a build's output. They are dropped without being counted."""
WRAPPERS = frozenset({"ccache", "sccache", "distcc", "gomacc", "icecc"})
COMPILER = re.compile(r"[A-Za-z0-9_][\w.+-]*")


class Cleaned(msgspec.Struct):
    directory: str
    file: str
    arguments: list[str]


@lru_cache(maxsize=2)
def include_folders(root: Path) -> tuple[str, ...]:
    return tuple(folders(root))


class CompileCommands:
    """The cleaned compile commands from all databases in the folders of a project.

    As in clangd, a file's command comes from the nearest database above the file. If there is none, the first
    database by path that names the file is used; CMake may have written it into the folder of a preset. A file
    without a command gets the folders that the project includes from, like clangd's `fallbackFlags`. If there is no
    database at all, commands are written only if the project has `.h` headers, whose language the commands name.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._real = os.path.realpath(root)
        self.entries: list[Cleaned] = []
        self.dropped: Counter[str] = Counter()
        """Flag without its value, or another dropped part → how often it was dropped."""
        self._databases: dict[Path, Path] = {}
        self._has_objective_c = False
        for name, _, files in os.walk(root):
            folder = Path(name)
            self._has_objective_c |= any(file.endswith(OBJECTIVE_C) for file in files)
            if ".clangd" in files:
                self.dropped[".clangd"] += 1
            if paths := [folder / path for path in DATABASES if is_own(folder / path, root)]:
                self._databases[folder] = paths[0]
        apart: dict[str, Cleaned] = {}
        for folder, path in sorted(self._databases.items()):
            for entry in self._read_commands(path) if path.suffix == ".json" else ():
                nearest = self._nearest(entry.file)
                if nearest == folder:
                    self.entries.append(entry)
                elif nearest is None:
                    apart.setdefault(entry.file, entry)
        self.entries += apart.values()
        self._add_defaults()

    def _nearest(self, file: str) -> Path | None:
        return next((folder for folder in Path(file).parents if folder in self._databases), None)

    def _add_defaults(self) -> None:
        root = self._root
        commanded = {self._nearest(entry.file) for entry in self.entries}
        paths = [root / name for name in sources(root)]
        has_header = any(path.suffix == ".h" for path in paths)
        if not self._databases and not (has_header and len(paths) * len(include_folders(root)) <= MOST_FLAGS):
            return
        includes = [f"-I{root / folder}" for folder in include_folders(root)]
        suffixes = {path.suffix.lower() for path in paths}
        # Without -x, clangd reads a `.h` as Objective-C++ (`getFallbackCommand`), and lists keywords of Objective-C++.
        language = "-xc-header" if ".c" in suffixes and not suffixes & CPP else "-xc++-header"
        header = "-xobjective-c++-header" if self._has_objective_c else language
        flags_of: dict[Path, list[str]] = {}
        for path in paths:
            nearest = self._nearest(str(path))
            database = self._databases[nearest] if nearest else None
            # In a folder with a list of commands, clangd infers the commands of other files from the list.
            if nearest in commanded:
                continue
            if database is None or database.suffix == ".json":
                flags = [header, *includes] if path.suffix == ".h" else includes
                self.entries.append(Cleaned(str(root), str(path), ["clang", *flags, str(path)]))
                continue
            if database not in flags_of:
                words = []
                try:
                    words = self._read(database).decode(errors="replace").splitlines()
                except OSError:
                    self.dropped[f"{database.relative_to(root)} (unreadable)"] += 1
                words = [word.strip() for word in words if word.strip()]
                flags_of[database] = list(self._clean(words, str(database.parent)))
            # Clang's own reader of compile_flags.txt (FixedCompilationDatabase) uses this name of the compiler.
            arguments = ["clang-tool", *flags_of[database], str(path)]
            self.entries.append(Cleaned(str(database.parent), str(path), arguments))

    def write(self, folder: Path) -> None:
        (folder / NAME).write_bytes(msgspec.json.encode(self.entries))

    def summary(self) -> str:
        if not self.dropped:
            return ""
        counts = sorted(self.dropped.items(), key=lambda pair: (-pair[1], pair[0]))[:5]
        names = ", ".join(f"{name} ({count:,})" for name, count in counts)
        return f"{self.dropped.total():,} parts of compile commands are not on the list of harmless flags: {names}"

    # ------------------------------------------------------------------------------------------------------- databases

    def _read_commands(self, path: Path) -> Iterator[Cleaned]:
        try:
            commands = msgspec.json.decode(self._read(path), type=list[Command], strict=False)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            self.dropped[f"{path.relative_to(self._root)} (unreadable)"] += 1
            return
        for command in commands:
            is_own = False
            with suppress(ValueError):  # an unclosed quote or a null character
                arguments = command.arguments or shlex.split(command.command)
                directory = os.path.normpath(path.parent / command.directory)
                file = os.path.normpath(Path(directory, command.file))
                is_own = bool(arguments and command.file) and self._is_own(directory) and self._is_own(file)
            if not is_own:
                self.dropped["commands of files outside the project"] += 1
                continue
            compiler, *flags = arguments
            if Path(compiler).name in WRAPPERS and flags:
                compiler, *flags = flags
            # Only the name is kept, since a path could lead to a program in the project.
            name = Path(compiler).name
            compiler = name if COMPILER.fullmatch(name) else "clang"
            yield Cleaned(directory, file, [compiler, *self._clean(flags, directory), file])

    def _read(self, path: Path) -> bytes:
        if path.stat().st_size > LARGEST:
            raise OSError(f"{path.name} is too large")
        return read_own(self._root, str(path.relative_to(self._root)))

    # ----------------------------------------------------------------------------------------------------------- flags

    def _clean(self, arguments: Sequence[str], directory: str) -> Iterator[str]:
        waiting = list(reversed(arguments))
        while waiting:
            flag = waiting.pop()
            # After this flag, only names of files follow.
            if flag == "--":
                return
            # `@FILE` names a file with more flags. `_flag` drops it, so the file is not read.
            if flag.startswith(("-", "@")):
                yield from self._flag(flag, waiting, directory)

    def _flag(self, flag: str, waiting: list[str], directory: str) -> list[str]:
        if ALONE.fullmatch(flag):
            return [flag]
        # -include-pch begins with -include, but reads a binary file.
        joined = ["-D", "-U", "-I", "-x", *PATHS] if not flag.startswith("-include-pch") else []
        name = next((name for name in joined if flag.startswith(name)), None)
        if flag in VALUES:
            name = flag
        elif flag.startswith("--sysroot="):
            name = "--sysroot"
        if name is None:
            if flag in SEPARATE and waiting:
                waiting.pop()
            self._drop(flag)
            return []
        attached = flag[len(name) :]
        value = attached if attached or not waiting else waiting.pop()
        value = value.removeprefix("=") if name == "--sysroot" else value
        is_harmless = False
        if pattern := VALUES.get(name):
            is_harmless = pattern.fullmatch(value) is not None
        elif value:
            with suppress(ValueError):
                path = Path(os.path.realpath(Path(directory, value)))
                is_harmless = path.is_relative_to(self._real) or any(map(path.is_relative_to, SYSTEM))
        if not is_harmless:
            self._drop(name)
            return []
        if name == "--sysroot":
            return [f"--sysroot={value}"]
        return [f"{name}{value}"] if name in {"-I", "-D", "-U"} else [name, value]

    def _drop(self, flag: str) -> None:
        if not OUTPUT.fullmatch(flag):
            self.dropped[re.split(r"[=,]", flag[:40])[0]] += 1

    def _is_own(self, path: str) -> bool:
        # A link may lead out of the project, so both the path and its target must be in the project.
        real = os.path.realpath(path)
        return Path(path).is_relative_to(self._root) and Path(real).is_relative_to(self._real)


compile_commands = lru_cache(maxsize=2)(CompileCommands)
