"""GitHub as far as our workflows need it: act runs them on this machine, in two repositories.

GitHub's own clients upload and download artifacts at a small server that answers for GitHub; our own client asks it the
rest. Caches go through GitHub's client to act's own server. The actions around them are stand-ins; `checkout` fetches
from folders. act does not know `$/` and `job.workflow_sha`, and takes `./` in a called workflow for the caller's:
written out. Nor does it know `continue-on-error` of a job: its steps have it instead, so that those
behind one that failed run too. What is not shown here: GitHub's own scheduling, permissions and limits.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.ci.github_api import Services, served
from tests.ci.tools import act, github_actions, github_cache
from tests.needs import need_modules

ROOT = Path(__file__).parents[2]
OURS, THEIRS = "ci-eval/ci-eval", "maintainer/engine"
USES = re.compile(r"uses: (actions/[\w-]+)(?:/[\w-]+)?(@[0-9a-f]{40})")

SHELL: dict[str, dict[str, Sequence[str]]] = {
    "checkout": {
        "inputs": ["persist-credentials", "path", "ref", "repository", "fetch-depth", "submodules"],
        # After actions/checkout 3d3c42e (v7.0.1), src/git-source-provider.ts and src/ref-helper.ts: one commit without
        # its history unless fetch-depth says otherwise; a folder with anything else in it is emptied first.
        "run": """
            mkdir -p "$GITHUB_WORKSPACE/$INPUT_PATH"
            cd "$GITHUB_WORKSPACE/$INPUT_PATH"
            url="file://$REPOSITORIES/${INPUT_REPOSITORY:-$GITHUB_REPOSITORY}"
            if [ -d .git ] && [ "$(git remote get-url origin)" = "$url" ]; then
                git clean -ffdxq
                git reset -q --hard
            else
                find . -mindepth 1 -delete
                git init -q .
                git remote add origin "$url"
            fi
            ref="${INPUT_REF:-$GITHUB_SHA}"
            fetch="git fetch -q --no-tags --prune"
            if [ "${INPUT_FETCH_DEPTH:-1}" = 0 ]; then
                $fetch origin "+refs/heads/*:refs/remotes/origin/*" "+refs/tags/*:refs/tags/*"
                git cat-file -e "$ref^{commit}" 2> /dev/null || $fetch origin "$ref"
            else
                $fetch "--depth=${INPUT_FETCH_DEPTH:-1}" origin "$ref"
            fi
            git checkout -q --force "$(git rev-parse -q --verify "$ref^{commit}" || git rev-parse FETCH_HEAD)"
            [ -z "$CHECKOUT_OWNER" ] || chown -R "$CHECKOUT_OWNER" .
        """,
    },
    "setup-go": {"inputs": ["go-version", "cache"], "run": "true"},
    "setup-node": {"inputs": ["node-version", "package-manager-cache"], "run": "true"},
    "setup-java": {"inputs": ["distribution", "java-version"], "run": "true"},
    "setup-python": {
        "inputs": ["python-version", "update-environment"],
        "outputs": ["python-path"],
        "run": 'echo "python-path=$(command -v python3)" >> "$GITHUB_OUTPUT"',
    },
}
# The function of github_actions.mjs or cache.mjs, and the inputs with the defaults of the action's own action.yml.
NODE: dict[str, tuple[str, dict[str, str]]] = {
    "upload-artifact": (
        "uploadArtifact",
        {"name": "artifact", "path": "", "if-no-files-found": "warn", "retention-days": "", "compression-level": "6",
         "overwrite": "false", "include-hidden-files": "false", "archive": "true"},
    ),
    "download-artifact": (
        "downloadArtifact",
        {"name": "", "artifact-ids": "", "path": "", "pattern": "", "merge-multiple": "false", "github-token": "",
         "repository": "${{ github.repository }}", "run-id": "${{ github.run_id }}", "skip-decompress": "false",
         "digest-mismatch": "error"},
    ),
    "deploy-pages": (
        "deployPages",
        {"token": "${{ github.token }}", "timeout": "600000", "error_count": "10", "reporting_interval": "5000",
         "artifact_name": "github-pages", "preview": "false"},
    ),
    "cache": (
        "restore",
        {"path": "", "key": "", "restore-keys": "", "upload-chunk-size": "", "enableCrossOsArchive": "false",
         "fail-on-cache-miss": "false", "lookup-only": "false", "save-always": "false"},
    ),
}  # fmt: skip
# After actions/upload-pages-artifact fc324d3 (v5.0.0), action.yml, on Linux; there it is upload-artifact v7.0.0.
PAGES: dict[str, Any] = {
    "inputs": {"name": "github-pages", "path": "_site/", "retention-days": "1", "include-hidden-files": "false"},
    "steps": [
        {
            "shell": "sh",
            "env": {"INPUT_PATH": "${{ inputs.path }}"},
            "run": """
                tar --dereference --hard-dereference --directory "$INPUT_PATH" -cvf "$RUNNER_TEMP/artifact.tar" \\
                  --exclude=.git --exclude=.github \\
                  ${{ inputs.include-hidden-files != 'true' && '--exclude=.[^/]*' || '' }} .
            """,
        },
        {
            "uses": "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a",
            "with": {
                "name": "${{ inputs.name }}",
                "path": "${{ runner.temp }}/artifact.tar",
                "retention-days": "${{ inputs.retention-days }}",
                "if-no-files-found": "error",
            },
        },
    ],
}  # fmt: skip
POST = {"cache": ("save", "success()")}
"""What an action does at the end of its job, and when."""


@dataclass(frozen=True)
class GitHub:
    """Our repository with other configurations, a maintainer's that calls it, and what their runs left behind."""

    folder: Path
    services: Services
    pinned: str

    def repository(self, name: str) -> Path:
        """Its working tree."""
        return self.folder / "repositories" / name

    def commit(self, name: str) -> str:
        """The commit that everything in a repository's folder now is."""
        return _commit(self.repository(name))

    def filled(self, text: str) -> str:
        """A documented workflow as one writes it, with the commit of ours."""
        return text.replace("OWNER/ci-eval", OURS).replace("COMMIT", self.pinned)

    def call(self, repository: str, name: str, text: str) -> None:
        """Gives a repository a workflow that calls ours."""
        (self.repository(repository) / ".github" / "workflows" / f"{name}.yml").write_text(self.filled(text))
        self.commit(repository)

    def names(self, run: int) -> set[str]:
        """Of the artifacts of a run."""
        return {path.stem for path in self._artifacts(run).rglob("*.zip")}

    def zip(self, run: int, name: str) -> Path:
        """An artifact as it is stored: the newest of that name."""
        attempts = sorted(self._artifacts(run).rglob(f"{name}.zip"), key=lambda path: path.stat().st_mtime_ns)
        return attempts[-1] if attempts else self._artifacts(run) / f"{name}.zip"

    def artifact(self, run: int, name: str) -> Path:
        """The folder that an artifact unpacks to."""
        stored = self.zip(run, name)
        target = self.folder / "unpacked" / stored.relative_to(self.services.artifacts).with_suffix("")
        if not target.exists():
            with zipfile.ZipFile(stored) as archive:
                archive.extractall(target)
        return target

    def _artifacts(self, run: int) -> Path:
        return self.services.artifacts / str(run)

    def run(
        self,
        workflow: str,
        run_id: int,
        event: str = "workflow_dispatch",
        repository: str = OURS,
        payload: Mapping[str, object] | None = None,
        *,
        attempt: int = 1,
        token: str = "a-token",
        caches: Path | None = None,
        variables: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
        label: str = "ubuntu-latest",
        **inputs: str,
    ) -> tuple[int, str]:
        """Exit code and log of a run.

        `caches`: where the service of caches keeps them; there is none without it. `label`: that of all runners; a job
        that asks for others is left out.
        """
        argv = [
            str(act()), event, "-W", f".github/workflows/{workflow}.yml", "-P", f"{label}=-self-hosted",
            "--no-skip-checkout", "--concurrent-jobs", "2", "-s", f"GITHUB_TOKEN={token}", *options,
        ]  # fmt: skip
        argv += [f"--cache-server-path={caches}", "--cache-server-addr=127.0.0.1"] if caches else ["--no-cache-server"]
        if payload:
            event_file = self.folder / f"event-{run_id}.json"
            event_file.write_text(json.dumps(payload))
            argv += ["-e", str(event_file)]
        for name, text in inputs.items():
            argv += ["--input", f"{name.replace('_', '-')}={text}"]
        if workflow == "generate-ml-logs":  # in our own environment
            need_modules("lightgbm", "pyarrow")
        for name, text in {**self._environment(workflow, run_id, attempt, repository), **(variables or {})}.items():
            argv += ["--env", f"{name}={text}"]
        for reference, folder in self._replaced():
            argv += ["--local-repository", f"{reference}={folder}"]
        self.services.workflows[run_id] = f".github/workflows/{workflow}.yml"
        environment = {**os.environ, "HOME": str(self.folder / "home"), "XDG_CACHE_HOME": str(self.folder / "home")}
        for name in ("CI", "CI_EVAL_CI"):
            environment.pop(name, None)
        done = subprocess.run(
            argv, cwd=self.repository(repository), env=environment, capture_output=True, text=True, timeout=900,
            check=False,
        )  # fmt: skip
        log = (done.stdout + done.stderr).splitlines()
        self.services.jobs[run_id] = list(_jobs(log))
        return done.returncode, "\n".join(line for line in log if "read cachedir" not in line)

    def _environment(self, workflow: str, run_id: int, attempt: int, repository: str) -> dict[str, str]:
        return {
            "REPOSITORIES": str(self.folder / "repositories"),
            "GITHUB_REPOSITORY": repository,
            "GITHUB_API_URL": self.services.address,
            "GITHUB_WORKFLOW_REF": f"{repository}/.github/workflows/{workflow}.yml@refs/heads/main",
            "ACTIONS_RESULTS_URL": self.services.address,
            "ACTIONS_RUNTIME_TOKEN": self.services.token(run_id, attempt),
            "GITHUB_RUN_ID": str(run_id),
            "GITHUB_RUN_ATTEMPT": str(attempt),
            "CI_EVAL_ENVIRONMENT": sys.prefix,
            "CI_EVAL_CACHE": str(self.folder / "cache"),
        }

    def _replaced(self) -> Iterator[tuple[str, Path]]:
        used = {
            "".join(reference)
            for path in (*self.repository(OURS).rglob(".github/**/*.yml"), self.repository(OURS) / "action.yml")
            for reference in USES.findall(path.read_text())
        }
        for reference in sorted(used):
            yield reference, self.folder / "actions" / reference.partition("@")[0].removeprefix("actions/")
        yield f"{OURS}@{self.pinned}", self.repository(OURS)


@contextmanager
def github(
    folder: Path, configs: dict[str, dict[str, object]], project: Path, callers: Mapping[str, str]
) -> Iterator[GitHub]:
    """Ours has these configurations instead of ours; theirs has them, the project, and workflows that call ours."""
    for name, action in SHELL.items():
        inputs = dict.fromkeys(action["inputs"], "")
        _action(folder / "actions" / name, name, inputs, action.get("outputs", []), _shell(action))
    for name, (_, inputs) in NODE.items():
        node_action(folder / "actions" / name, name, inputs)
    for half in ("restore", "save"):
        node_action(folder / "actions" / "cache" / half, "cache", NODE["cache"][1], half)
    pages = {"using": "composite", "steps": PAGES["steps"]}
    _action(folder / "actions" / "upload-pages-artifact", "upload-pages-artifact", PAGES["inputs"], [], pages)
    for name in ("artifacts", "home"):
        (folder / name).mkdir()
    with served(Services(folder / "artifacts")) as services:
        ours, theirs = (folder / "repositories" / name for name in (OURS, THEIRS))
        shutil.copytree(ROOT / ".github", ours / ".github")
        shutil.copy(ROOT / "action.yml", ours)
        for repository in (ours, theirs):
            shutil.copytree(project, repository / "project")
            (repository / "configs").mkdir(parents=True)
            for name, config in configs.items():
                (repository / "configs" / f"{name}.yaml").write_text(yaml.safe_dump(config))
        pinned = _commit(ours)
        for path in (ours / ".github" / "workflows").iterdir():
            text = re.sub(r"uses: (?:\$/|\./(?=\.github))(.*)", rf"uses: {OURS}/\1@{pinned}", path.read_text())
            # There is no Docker; CHECKOUT_OWNER makes git see what it sees in a container.
            text = re.sub(r"^    container: .*\n", "", text, flags=re.M)
            path.write_text(_lenient(text.replace("${{ job.workflow_sha }}", pinned)))
        _commit(ours)
        (theirs / ".github" / "workflows").mkdir(parents=True)
        for name, text in callers.items():
            text = text.replace("OWNER/ci-eval", OURS).replace("COMMIT", pinned)
            (theirs / ".github" / "workflows" / f"{name}.yml").write_text(text)
        _commit(theirs)
        yield GitHub(folder, services, pinned)


def _jobs(log: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names and conclusions of the jobs of a run, the names as GitHub has them: CALLER / JOB."""
    for line in log:
        if found := re.match(r"\[([^]]+?)\s*\].*Job (succeeded|failed)", line):
            # act numbers the legs of a matrix.
            name = re.sub(r"(-\d+-of-\d+)-\d+$", r"\1", found[1].partition("/")[2])
            yield name.replace("/", " / "), found[2].replace("succeeded", "success")


def _lenient(text: str) -> str:
    """`continue-on-error` of a job, given to each of its steps."""
    lines: list[str] = []
    may = ""
    for line in text.splitlines():
        if re.match(r"  \S", line):
            may = ""
        if found := re.match("    continue-on-error: (.*)", line):
            may = found[1]
        elif may and line.startswith("      - "):
            lines += [f"      - continue-on-error: {may}", f"        {line.removeprefix('      - ')}"]
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def node_action(folder: Path, name: str, inputs: Mapping[str, str], only: str = "") -> None:
    """A stand-in that is a program for node, in a new folder. `only`: the one function that it runs."""
    post, condition = ("", "") if only else POST.get(name, ("", ""))
    after = {"post": "post.mjs", "post-if": condition} if post else {}
    _action(folder, name, inputs, [], {"using": "node24", "main": "index.mjs", **after})
    (folder / "index.mjs").write_text(module(name, only or NODE[name][0]))
    if post:
        (folder / "post.mjs").write_text(module(name, post))


def module(name: str, function: str) -> str:
    """What node runs of a stand-in."""
    source = github_cache() if name == "cache" else github_actions()
    return f'import {{ {function}, run }} from "{source.as_uri()}";\nawait run({function});\n'


def _commit(repository: Path) -> str:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    allow = ["config", "uploadpack.allowAnySHA1InWant", "true"]
    for command in (["init", "-q"], allow, ["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "all"]):
        subprocess.run([*git, *command], cwd=repository, check=True)
    head = ["git", "rev-parse", "HEAD"]
    return subprocess.run(head, cwd=repository, check=True, capture_output=True, text=True).stdout.strip()


def _shell(action: Mapping[str, Sequence[str]]) -> dict[str, object]:
    step = {
        "id": "run",
        "shell": "bash",
        "env": {f"INPUT_{each.upper().replace('-', '_')}": f"${{{{ inputs.{each} }}}}" for each in action["inputs"]},
        "run": action["run"],
    }
    return {"using": "composite", "steps": [step]}


def _action(
    folder: Path, name: str, inputs: Mapping[str, str], outputs: Sequence[str], runs: dict[str, object]
) -> None:
    folder.mkdir(parents=True)
    text = {
        "name": name,
        "description": "A stand-in.",
        "inputs": {each: {"description": each, "default": default} for each, default in inputs.items()},
        "outputs": {each: {"description": each, "value": f"${{{{ steps.run.outputs.{each} }}}}"} for each in outputs},
        "runs": runs,
    }
    (folder / "action.yml").write_text(yaml.safe_dump(text))
