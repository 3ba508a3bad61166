"""Projects in TypeScript and JavaScript: plugins, compilers of their own, hooks of package managers."""

from __future__ import annotations

import json

from tests.engines.hostile.trap import Trap

PLUGINS = ("evil", "./evil", "typescript-plugin-evil", "@evil/plugin", "../../../../project/evil")
COMPILER = (
    "tsserver.js typescript.js tsserverlibrary.js tsc.js _tsc.js _tsserver.js typingsInstaller.js watchGuard.js".split()
)
EDITOR = {
    "typescript.tsdk": "node_modules/typescript/lib",
    "js/ts.tsdk.path": "node_modules/typescript/lib",
    "typescript.tsserver.nodePath": "./evil.sh",
    "typescript.tsserver.pluginPaths": ["."],
    "typescript.npm": "./evil.sh",
    "typescript.enablePromptUseWorkspaceTsdk": True,
    "vtsls.autoUseWorkspaceTsdk": True,
}


def typescript(trap: Trap) -> None:
    _common(trap)
    for i, line in enumerate(("words.|", "evil.|", "lodash.|", "broken.(;\nwords.|")):
        text = f'import * as evil from "evil";\nimport lodash from "lodash";\nconst words: string[] = [];\n{line}\n'
        trap.ask(f"a{i}.ts", text)
    trap.ask("b.tsx", "export const A = () => <div clas|></div>;\n")


def javascript(trap: Trap) -> None:
    _common(trap)
    for i, line in enumerate(("words.|", "evil.|", "lodash.|", "broken.(;\nwords.|")):
        text = f'const evil = require("evil");\nconst lodash = require("lodash");\nconst words = [""];\n{line}\n'
        trap.ask(f"a{i}.js", text)
    trap.ask("b.jsx", "export const A = () => <div clas|></div>;\n")


def _common(trap: Trap) -> None:
    plugins = [{"name": name} for name in PLUGINS]
    options = {"plugins": plugins, "allowJs": True, "module": "nodenext"}
    for name in ("tsconfig.json", "jsconfig.json"):
        config = {
            "compilerOptions": options,
            "ts-node": {"require": ["./evil.js"]},
            "typeAcquisition": {"enable": True},
        }
        trap.write(name, json.dumps(config | {"extends": []}))
    modules = ("evil", "typescript-plugin-evil", "@evil/plugin", "lodash")
    trap.node("evil.js", "evil/index.js", *(f"node_modules/{name}/index.js" for name in modules))
    trap.node(*(f"node_modules/typescript/lib/{name}" for name in COMPILER), "node_modules/typescript/bin/tsc")
    trap.node(*(f".yarn/sdks/typescript/lib/{name}" for name in COMPILER), ".yarn/releases/yarn.cjs")
    trap.node(*(f".vscode/pnpify/typescript/lib/{name}" for name in COMPILER))
    native = "node_modules/@typescript/native-preview"
    trap.node(f"{native}/bin/tsgo.js", f"{native}/lib/getExePath.js")
    trap.program(
        f"{native}-linux-x64/lib/tsgo", *(f"node_modules/.bin/{name}" for name in ("tsc", "tsserver", "node", "npm"))
    )
    for name, version in (("typescript", "99.0.0"), ("@typescript/native-preview", "99.0.0"), ("evil", "1.0.0")):
        package = {
            "name": name,
            "version": version,
            "main": "lib/typescript.js" if name == "typescript" else "index.js",
        }
        trap.write(f"node_modules/{name}/package.json", json.dumps(package))
    trap.node(".pnp.cjs", ".pnp.js", ".pnp.loader.mjs", "node.config.js", "typingsInstaller.js", "npm")
    trap.write(".yarnrc.yml", "yarnPath: .yarn/releases/yarn.cjs\nplugins:\n  - ./evil.js\n")
    trap.write(
        ".npmrc", "node-options=--require ./evil.js\nscript-shell=./evil.sh\nignore-scripts=false\ngit=./evil.sh\n"
    )
    trap.write(".node_options", "--require ./evil.js\n")
    scripts = dict.fromkeys(("preinstall", "install", "postinstall", "prepare", "test"), "./evil.sh")
    needed = {"lodash": "*", "jquery": "*", "evil": "file:./evil"}
    manifest = {
        "name": "project",
        "version": "1.0.0",
        "scripts": scripts,
        "dependencies": needed,
        "packageManager": "yarn@9.9.9",
    }
    trap.write("package.json", json.dumps(manifest))
    trap.write("bower.json", json.dumps({"name": "project", "dependencies": {"jquery": "*"}}))
    trap.write(".vscode/settings.json", json.dumps(EDITOR))
