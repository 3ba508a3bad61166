"""The job `init`: it writes a configuration, and the files for a CI."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from urllib.parse import urlsplit

import msgspec
import yaml
from msgspec.structs import replace

from ci_eval.core.base import atomic
from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.base.files import below
from ci_eval.core.catalogs import languages
from ci_eval.core.config import Config, load, override, patch, set_engine_command
from ci_eval.fetch import identity, schemes
from ci_eval.jobs.preparation import load_engine
from ci_eval.jobs.reuse import why_not_reusable
from ci_eval.jobs.workflows import github_files, origin, teamcity_files
from ci_eval.jobs.workflows.origin import CONFIG, CiPlan, Request

_MODULES = {
    name.removesuffix("_files"): import_module(f"{__package__}.{name}")
    for _, name, _ in iter_modules([str(Path(__file__).parent)])
    if name.endswith("_files")
}
# The CI with the most purposes comes first.
SYSTEMS = dict(sorted(_MODULES.items(), key=lambda named: -len(named[1].PURPOSES)))
"""The module NAME_files of each CI. It has PURPOSES, `files(plan)` and `steps(request, address, key)`."""
SESSIONS = 1000
"""The number of sessions in a new configuration: they take some minutes, and give an interval of about three points."""
ENGINES = {
    "cpp": "clangd",
    "go": "gopls",
    "java": "jdt",
    "javascript": "typescript",
    "kotlin": "kotlin-ide-services",
    "python": "jedi",
    "scala": "scala-presentation-compiler",
    "typescript": "typescript",
}
"""The usual engine by language. It is `words`, the baseline, for all other languages."""
TRAINING = {
    "go": ("go:github.com/gorilla/mux@v1.8.1", "go:github.com/sirupsen/logrus@v1.9.3"),
    "java": ("maven:com.google.code.gson:gson:2.11.0", "maven:commons-io:commons-io:2.16.1"),
    "javascript": ("npm:express@4.19.2", "npm:commander@12.1.0"),
    "kotlin": ("maven:com.squareup.okio:okio-jvm:3.9.0", "maven:com.github.ajalt.clikt:clikt-jvm:4.4.0"),
    "python": ("pypi:requests==2.32.3", "pypi:click==8.1.7"),
    "rust": ("crate:clap_builder==4.5.2", "crate:itertools==0.13.0"),
    "scala": ("maven:org.typelevel:cats-core_2.13:2.12.0", "maven:io.circe:circe-core_2.13:0.14.9"),
    "typescript": ("npm:zod@4.0.0", "npm:immer@10.1.1"),
}

NEEDS_BUILD = (
    "--for pull-request compares the engine that a pull request changes: give the commands that build and start it: "
    "--build 'make server' --engine-command 'build/server --stdio'"
)


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    language: str
    engine: str = ""
    project: str
    engine_command: str = ""
    engine_like: str = ""
    endpoint: str = ""
    model: str = ""
    key: str = ""

    @property
    def of_endpoint(self) -> dict[str, str]:
        named = {"endpoint": self.endpoint, "model": self.model, "key": self.key}
        return {name: value for name, value in named.items() if value}


def locate(folder: Path, system: str) -> tuple[str, str]:
    """Return the path of the folder in its repository, and the CI. `system` is the CI that the user named, or "".
    Raises ConfigError if the server does not read the files of that CI, or if the server is unknown."""
    top = identity.top(folder.resolve())
    inside = folder.resolve().relative_to(top).as_posix()
    host = urlsplit(identity.page(folder.resolve())).hostname or ""
    is_github = not host or "github" in host or host.endswith(".ghe.com")
    reads = "github" if is_github else "gitlab" if "gitlab" in host else ""
    if not (system or reads):
        raise ConfigError(f"the CI of {host} is not known: add --ci {' or --ci '.join(list(SYSTEMS)[1:])}")
    system = system or reads
    if (system == "github" and not is_github) or (system == "gitlab" and host and is_github):
        raise ConfigError(f"--ci {system}: {host} does not read these files; leave --ci out, or give --ci teamcity")
    if inside != "." and system != "github":
        raise ConfigError(f"--ci {system} needs the repository's top: run this in {top}, with --project path:{inside}")
    return inside, system


def guess_language(root: Path) -> str:
    names = {suffix: language.name for language in languages.CATALOG.all() for suffix in language.suffixes if suffix}
    counts = Counter(names[path[path.rindex(".") :]] for path in below(root, root, tuple(names)) if "." in path)
    return counts.most_common(1)[0][0] if counts else "python"


def usual_engine(language: str) -> str:
    return ENGINES.get(language, "words")


def usual_training(language: str, project: str) -> tuple[str, ...]:
    """Return the usual projects for training except `project`, since a ranker must not be trained on what it ranks."""
    return tuple(spec for spec in TRAINING.get(language, ()) if _package(spec) != _package(project))


def _package(spec: str) -> str:
    """Return the SPEC without digest and version. The version follows `==`, the last `@`, or Maven's last colon."""
    package = re.split(r"==|@(?=[^/]*$)|:(?=\d[\w.-]*(?::jar)?$)", spec.partition("#")[0])[0]
    # PyPI accepts several spellings of a name (PEP 503).
    return re.sub(r"[-_.]+", "-", package).lower() if package.startswith("pypi:") else package


def check(answers: Answers) -> Config:
    config = patch(Config(), language=answers.language, project=answers.project)
    if answers.engine_command:
        config = set_engine_command(config, answers.engine_command, answers.engine_like or None)
    elif answers.endpoint:
        config = override(config, [f"engine.{name}={value}" for name, value in answers.of_endpoint.items()])
    else:
        config = patch(config, engine=answers.engine)
    languages.CATALOG.load(answers.language)
    engine = load_engine(config)
    if engine.languages and answers.language not in engine.languages:
        raise ConfigError(
            f"engine {engine.name} completes {', '.join(sorted(engine.languages))}, not {answers.language}; "
            f"the usual engine is {usual_engine(answers.language)}"
        )
    scheme, colon, _ = answers.project.partition(":")
    if not colon or (scheme not in schemes.names() and scheme not in {"http", "https"}):
        raise ConfigError(f"project {answers.project!r}: expected a SPEC such as pypi:flask==3.0.3 or path:.")
    return config


def check_request(request: Request, folder: Path) -> None:
    purposes = request.purposes
    if unknown := [purpose for purpose in purposes if purpose not in origin.PURPOSES]:
        raise ConfigError(
            f"--for {unknown[0]}{guess(unknown[0], origin.PURPOSES)}: known are {', '.join(origin.PURPOSES)}"
        )
    if unwritten := [purpose for purpose in purposes if purpose not in SYSTEMS[request.system].PURPOSES]:
        known = ", ".join(SYSTEMS[request.system].PURPOSES)
        raise ConfigError(f"--for {unwritten[0]} is not for {request.system}, which has only {known}: see docs/ci.md")
    if (origin.ALGORITHMS in purposes) != bool(request.rivals):
        raise ConfigError("--for algorithms ranks engines: name several, such as --engine jedi,words")
    if origin.PULL_REQUEST in purposes and not request.build:
        raise ConfigError(NEEDS_BUILD)
    mails = request.system == "teamcity" and origin.NOTICE in purposes
    if mails and not request.mail:
        raise ConfigError("--for notice needs --mail ADDRESS, to which TeamCity sends mail")
    if request.mail and not mails:
        raise ConfigError("--mail is for --ci teamcity --for notice alone: leave --mail out")
    has_nights = {origin.NIGHT, origin.NOTICE, origin.ALGORITHMS} & {*purposes} or (
        request.system == "github" and (folder / github_files.NIGHT).exists()
    )
    if origin.SITE in purposes and not has_nights:
        raise ConfigError("--for site needs night: the site shows the trends of nightly runs")


def write(answers: Answers | None, folder: Path, request: Request) -> list[Path]:
    """Write the configurations and the files of the CI, and return their paths. If `answers` is None, the existing
    configuration is kept. Raises ConfigError, also if a file exists."""
    top = folder.joinpath(*[".."] * len(Path(request.folder).parts))
    check_request(request, top)
    config = check(answers) if answers else load(folder / CONFIG).config
    plan = CiPlan(
        request=request,
        command=shlex.join(config.engine.command or ()),
        like=config.engine.like or "",
        key=config.engine.key or "",
        is_reusable=not why_not_reusable(config),
        training=config.training_projects or usual_training(config.language, config.project.spec),
    )
    check_command(plan.command, request)
    if origin.LOGS in request.purposes and not plan.training:
        raise ConfigError(f"--for logs needs trainingProjects in {CONFIG}: {config.language} has no default projects")
    text = _spell(answers, config, plan) if answers else (folder / CONFIG).read_text(encoding="utf-8")
    configs = {CONFIG: text} if answers else {}
    for path, engine in zip(request.configs[1:], request.rivals, strict=True):
        if answers:
            check(replace(answers, engine=engine, engine_command="", engine_like="", endpoint=""))
        keys = {**yaml.safe_load(text), "engine": engine}
        configs[path] = f"# As {CONFIG}, with another engine.\n{yaml.safe_dump(keys, sort_keys=False, width=1000)}"
    targets = {folder / path: text for path, text in configs.items()}
    targets |= {top / path: text for path, text in SYSTEMS[request.system].files(plan)}
    if existing := [str(path) for path in targets if path.exists()]:
        away = "move it away" if len(existing) == 1 else "move them away"
        raise ConfigError(f"{' and '.join(existing)} would be overwritten: {away}, or give another --output")
    return [atomic.write(path, text.encode()) for path, text in targets.items()]


def check_command(command: str, request: Request) -> None:
    """Raise ConfigError if the command is missing (""), or does not start the program that is built."""
    if origin.PULL_REQUEST in request.purposes and not command:
        raise ConfigError(NEEDS_BUILD)
    if request.build and not command:
        raise ConfigError("--build needs --engine-command, which starts the result")
    program = command.partition(" ")[0].removeprefix("./")
    output = request.build_output.rstrip("/")
    if request.build and program != output and not program.startswith(f"{output}/"):
        raise ConfigError(
            f"--engine-command {command!r} does not start a program in {output}, the result of --build: begin the "
            f"command with {output}/PROGRAM, or name another --build-output"
        )


def _spell(answers: Answers, config: Config, plan: CiPlan) -> str:
    engine: object = answers.engine
    if answers.engine_command:
        engine = {"command": list(config.engine.command or ())} | (
            {"like": answers.engine_like} if answers.engine_like else {}
        )
    elif answers.endpoint:
        engine = answers.of_endpoint
    keys: dict[str, object] = {"language": answers.language, "engine": engine, "project": answers.project}
    if origin.LOGS in plan.request.purposes:
        keys["trainingProjects"] = list(plan.training)
    return f"""\
# What `ci-eval evaluate {CONFIG}` measures. `ci-eval list keys` has all keys.
{yaml.safe_dump(keys, sort_keys=False, width=1000)}\
interpret:
  sessionsLimit: {SESSIONS}   # places in the code; without this line, all
"""


def next_steps(files: Sequence[Path], request: Request, address: str, key: str = "") -> list[str]:
    """Return lines about what the user does next. `files` are relative to the repository. `address` is the page of the
    repository, or "". `key` is the variable with the key of a language model, or ""."""
    lines = []
    if not request.nameable_origin.is_known:
        naming = " and ".join(str(path) for path in files if path not in {*request.configs, teamcity_files.LIBRARY})
        lines.append(f"First replace OWNER/ci-eval and COMMIT in {naming}")
    build = f"{_one_line(request.build)} && " if request.build else ""
    # If a subfolder is measured, the CI's files are in folders above it.
    folders = " ".join(dict.fromkeys(str(Path(*path.parts[: path.parts.count("..") + 1])) for path in files))
    lines += [
        f"Try it:      {build}ci-eval evaluate {CONFIG}",
        f"Hand it in:  git add {folders} && git commit -m 'Measure completion' && git push",
    ]
    return [*lines, *SYSTEMS[request.system].steps(request, address, key)]


def _one_line(command: str) -> str:
    if re.fullmatch(r"[\w ./=:@%+,-]+", command):
        return command
    if "\n" not in command:
        return f"bash -ec {shlex.quote(command)}"
    escaped = command.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"bash -ec $'{escaped}'"
