"""A project in C++: compilers and plugins that its database of commands names."""

from __future__ import annotations

import json

from tests.engines.hostile.trap import Trap

PLUGIN = "./evil.so"
FLAGS: dict[str, list[str]] = {
    "plugin": [f"-fplugin={PLUGIN}"],
    "load": ["-Xclang", "-load", "-Xclang", PLUGIN, "-Xclang", "-add-plugin", "-Xclang", "evil"],
    "passes": [f"-fpass-plugin={PLUGIN}", "-O2"],
    "llvm": ["-mllvm", f"-load={PLUGIN}", "-mllvm", f"-load-pass-plugin={PLUGIN}"],
    "wrapper": ["-wrapper", "./evil.sh", "-B.", "-no-integrated-cpp"],
    "response": ["@flags.rsp"],
    "config": ["--config=./clang.cfg"],
    "toolchain": ["--gcc-toolchain=.", "--gcc-install-dir=.", "-ccc-gcc-name", "./evil.sh", "-fno-integrated-as"],
    "modules": ["-std=c++20", "-fmodules", "-fmodule-map-file=module.modulemap", "-fprebuilt-module-path=."],
    "link": ["-fuse-ld=./evil.sh", "-Wl,-plugin,./evil.so"],
}
CLANGD = f"""
CompileFlags:
  Compiler: ./evil.sh
  CompilationDatabase: .
  Add: [-fplugin={PLUGIN}, -Xclang, -load, -Xclang, {PLUGIN}]
Index:
  External:
    Server: 127.0.0.1:1
    MountPoint: /
Diagnostics:
  ClangTidy:
    Add: ['*']
"""


def project(trap: Trap) -> None:
    trap.native("evil.so")
    trap.program("g++", "clang++", "cc1plus", "gcc", "as", "ld", "bin/g++", "bin/clang")
    trap.write("flags.rsp", f"-fplugin={PLUGIN} -Xclang -load -Xclang {PLUGIN}\n")
    trap.write("clang.cfg", f"-fplugin={PLUGIN}\n-Xclang -load -Xclang {PLUGIN}\n")
    trap.write("module.modulemap", 'module evil { header "evil.h" export * }\n')
    trap.write("evil.h", "#pragma once\nstruct Evil { int width; };\n")
    trap.write(".clang-tidy", "Checks: '*'\nExtraArgs: ['-fplugin=./evil.so']\n")
    trap.write("sub/.clangd", CLANGD)
    trap.write("flags/compile_flags.txt", f"-fplugin={PLUGIN}\n-Xclang\n-load\n-Xclang\n{trap.root}/evil.so\n")
    entries = []
    written = {
        "log": ["-Xclang", "-diagnostic-log-file", "-Xclang", trap.mark("diagnostics")],
        "cache": ["-fmodules", f"-fmodules-cache-path={trap.mark('modules')}", "-fimplicit-module-maps"],
        "dependencies": [f"-Wp,-MD,{trap.mark('dependencies')}", "-MJ", trap.mark("fragment")],
    }
    flags_of_log = "\n".join(written["log"])
    trap.write("written/compile_flags.txt", f"{flags_of_log}\n")
    trap.write("added/.clangd", f"CompileFlags: {{Add: {json.dumps(written['log'] + written['cache'])}}}\n")
    for i, (name, flags) in enumerate((FLAGS | written).items()):
        path = f"{name}.cpp"
        trap.ask(path, f'#include "evil.h"\nint f{i}(Evil a) {{ return a.|; }}\n')
        compiler = ("./evil.sh", "./g++", str(trap.root / "clang++"))[i % 3]
        arguments = [compiler, *(each.replace("./evil.so", str(trap.root / "evil.so")) for each in flags), "-c", path]
        entries.append({"directory": str(trap.root), "file": path, "arguments": arguments})
    for path in ("sub/a.cpp", "flags/a.cpp", "written/a.cpp", "added/a.cpp"):
        trap.ask(path, "struct A { int width; };\nint f(A a) { return a.|; }\n")
    trap.ask("broken.cpp", '#include "/proc/self/environ"\n#embed "evil.h"\nstruct { int f(Evil a) { return a.|\n')
    entries.append({"directory": str(trap.root), "file": "broken.cpp", "command": "./evil.sh -c broken.cpp; ./evil.sh"})
    trap.write("compile_commands.json", json.dumps(entries))
