"""A project in Go: cgo, generators, tools, and toolchains of its own."""

from __future__ import annotations

from tests.engines.hostile.trap import Trap

DIRECTIVES = (
    "LDFLAGS: -lm",
    "CFLAGS: -fplugin={so}",
    "CFLAGS: -specs={folder}/evil.specs",
    "CFLAGS: -B{folder}",
    "CFLAGS: -wrapper {folder}/as",
    "CC: {folder}/cc1",
    "pkg-config: ./evil.pc",
    "LDFLAGS: -Wl,-plugin,{so}",
    "LDFLAGS: -fuse-ld={folder}/ld -B{folder}",
)


def project(trap: Trap) -> None:
    trap.program("gcc", "pkg-config", "gopackagesdriver", "go", "git", "bin/go", "cgo", "gopls")
    trap.write("go.mod", "module example.com/project\n\ngo 1.22\n\nrequire example.com/needed v1.0.0\n")
    trap.write("go.sum", "")
    trap.write("vendor/modules.txt", "# example.com/needed v1.0.0\n## explicit\nexample.com/needed\n")
    trap.write("vendor/example.com/needed/a.go", "package needed\n\nfunc Seen() {}\n")
    trap.write(
        "newer/go.mod", "module example.com/newer\n\ngo 1.99\n\ntoolchain go1.99.0-evil\n\ntool example.com/evil\n"
    )
    trap.ask("a_test.go", 'package main\n\nimport "testing"\n\nfunc TestA(t *testing.T) { t.| }\n')
    trap.ask("newer/a.go", 'package newer\n\nimport "strings"\n\nvar A = strings.|\n')
    flags = f"GOFLAGS=-toolexec={trap.root}/evil.sh\nCC={trap.root}/evil.sh\nGOPACKAGESDRIVER={trap.root}/evil.sh\n"
    for path in ("go.env", ".config/go/env", ".env"):
        trap.write(path, flags)
    trap.write(
        ".vscode/settings.json", '{"go.toolsEnvVars": {"CC": "./evil.sh"}, "go.alternateTools": {"go": "./evil.sh"}}'
    )
    for i, each in enumerate(DIRECTIVES):
        folder = f"c{i}"
        so = trap.native(f"{folder}/evil.so")
        trap.write(
            f"{folder}/evil.pc",
            f"Name: evil\nVersion: 1\nDescription: evil\nCflags: -fplugin={so}\nLibs: -Wl,-plugin,{so}\n",
        )
        trap.write(f"{folder}/evil.specs", f"*cc1:\n+ -fplugin={so}\n")
        trap.program(f"{folder}/as", f"{folder}/cc1", f"{folder}/ld", f"{folder}/collect2")
        directive = each.format(so=so, folder=trap.root / folder)
        code = f"#cgo {directive}\n#include <stdio.h>\nstatic int width(void) {{ return 1; }}"
        text = f'package c\n\n/*\n{code}\n*/\nimport "C"\n\ntype T struct {{ Width int }}\n\nvar N = C.width()\n'
        trap.write(f"{folder}/a.go", text)
        trap.ask(f"{folder}/b.go", "package c\n\nfunc F(t T) int { return t.| }\n")
    generate = "//go:generate ./evil.sh\n//go:generate -command go ./evil.sh\n"
    needed = 'import (\n\t"strings"\n\n\t"example.com/needed"\n)\n'
    trap.ask("a.go", f"{generate}package main\n\n{needed}\nvar _ = needed.Seen\n\nfunc main() {{ strings.| }}\n")
    trap.ask("b.go", f"package main\n\n{needed}\nfunc f() {{ needed.| }}\n")
    trap.ask("broken.go", 'package main\n\nimport "fmt"\n\nfunc g( { fmt.|\n')
