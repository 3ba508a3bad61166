"""Object usages of well-known projects: the table of mined projects in docs/recommenders.md, and how jedi agrees.

python benchmarks/usages.py --output FOLDER [--language L …]       mines each project into FOLDER/NAME.jsonl
python benchmarks/usages.py --agreement N [--seed S]                the types of N receivers, by local rules and by jedi

Seconds are those of one process, without the download.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ci_eval.core import machine
from ci_eval.core.base.atomic import write
from ci_eval.core.base.chance import draw
from ci_eval.core.base.files import below
from ci_eval.core.fetch import project
from ci_eval.core.fetch.project import Project
from ci_eval.core.grammar.document import decode
from ci_eval.core.grammar.syntax import parser
from ci_eval.jobs.datasets.usages import format_known_share
from ci_eval.plugins.mining.usages import places
from ci_eval.plugins.mining.usages.contract import Surroundings
from ci_eval.plugins.mining.usages.inference import JediInference
from ci_eval.plugins.mining.usages.languages import CATALOG
from ci_eval.plugins.mining.usages.languages.python.library import known
from ci_eval.plugins.mining.usages.languages.python.meaning import Scope
from ci_eval.plugins.mining.usages.languages.python.naming import modules, qualify_module
from ci_eval.plugins.mining.usages.languages.python.walk import PythonWalk
from ci_eval.plugins.mining.usages.reading import read_project

PROJECTS = {
    "python": """
        attrs==23.2.0 black==24.4.2 boto3==1.34.120 celery==5.4.0 click==8.1.7 django==5.0.6 docutils==0.21.2
        fastapi==0.111.0 flask==3.0.3 httpx==0.27.0 jinja2==3.1.4 marshmallow==3.21.2 networkx==3.3 paramiko==3.4.0
        pip==24.0 pydantic==2.7.3 pygments==2.18.0 pytest==8.2.2 redis==5.0.4 requests==2.32.3 rich==13.7.1
        scrapy==2.11.2 setuptools==70.0.0 sphinx==7.3.7 starlette==0.37.2 tqdm==4.66.4 twisted==24.3.0 typer==0.12.3
        urllib3==2.2.1 werkzeug==3.0.3
    """,
    "java": """
        ch.qos.logback:logback-core:1.5.6 com.fasterxml.jackson.core:jackson-databind:2.17.1
        com.google.code.gson:gson:2.11.0 com.google.guava:guava:33.2.0-jre commons-cli:commons-cli:1.6.0
        commons-io:commons-io:2.16.1 junit:junit:4.13.2 org.apache.commons:commons-collections4:4.4
        org.apache.commons:commons-compress:1.26.2 org.apache.commons:commons-csv:1.11.0
        org.apache.commons:commons-lang3:3.14.0 org.apache.commons:commons-text:1.12.0
        org.apache.httpcomponents:httpclient:4.5.14 org.apache.logging.log4j:log4j-core:2.23.1 org.jsoup:jsoup:1.17.2
    """,
}
SCHEMES = {"python": "pypi", "java": "maven"}


def prepared(language: str) -> Iterator[Project]:
    for name in PROJECTS[language].split():
        yield project.prepare(f"{SCHEMES[language]}:{name}", cache=machine.cache_folder())


def mine(language: str, output: Path) -> None:
    dialect = CATALOG.load(language)
    print(f"\n| {language} | files | not read | usages | types | receivers resolved | seconds |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    total: Counter[str] = Counter()
    receivers: Counter[str] = Counter()
    for each in prepared(language):
        begin = time.perf_counter()
        found = read_project(each.root, dialect, jobs=1, advance=lambda *_: None)
        seconds = time.perf_counter() - begin
        usages = [mined.usage for mined in found.usages if mined.usage.calls and not mined.own]
        write(output / f"{each.info.name}.jsonl", b"".join(msgspec.json.encode(usage) + b"\n" for usage in usages))
        total.update(files=len(found.paths), troubles=len(found.troubles), usages=len(usages), seconds=round(seconds))
        receivers.update(found.receivers)
        types = len({usage.type for usage in usages})
        spec = each.info.spec.partition("#")[0]
        print(
            f"| `{spec}` | {len(found.paths):,} | {len(found.troubles)} | {len(usages):,} | {types:,} "
            f"| {format_known_share(found.receivers)} | {seconds:.1f} |",
            flush=True,
        )
    share = receivers["object"] / (receivers["object"] + receivers["unknown"])
    files, troubles, usages_, seconds_ = (f"{total[name]:,}" for name in ("files", "troubles", "usages", "seconds"))
    print(f"| all | {files} | {troubles} | {usages_} | | {share:.0%} | {seconds_} |")


# ------------------------------------------------------------------------------------------------------- agreement


@dataclass(frozen=True)
class Site:
    """A receiver, and what local rules say of it."""

    path: str
    at: int
    sort: str
    type: str


class Listing(PythonWalk):
    """Lists the receivers that jedi can be asked about."""

    path = ""
    sites: list[Site]

    def _site(self, site: places.Site, scope: Scope) -> None:
        receiver = site.receiver
        meaning = self.expressions.of(receiver, scope)
        if receiver.type in {"identifier", "attribute"} and meaning.sort != "this":
            sort = "object" if meaning.is_typed else "other" if meaning.sort in {"module", "class"} else "unknown"
            self.sites.append(Site(self.path, receiver.end_byte - 1, sort, meaning.name))


def sites(each: Project, seed: int, files: int) -> Iterator[Site]:
    paths = sorted(below(each.root, each.root, (".py",)))
    around = Surroundings(own=modules(paths))
    for path in sorted(paths, key=lambda path: draw(seed, f"{each.info.spec} {path}"))[:files]:
        source = decode((each.root / path).read_bytes()).encode()
        walk = Listing(source, qualify_module(path), known, around, is_package=path.endswith("__init__.py"))
        walk.path, walk.sites = path, []
        walk.run(parser("python").parse(source).root_node)
        yield from walk.sites


def agreement(count: int, seed: int) -> None:
    """As many sites of each project; a few of each file, since jedi reads what the file imports."""
    names = PROJECTS["python"].split()
    told: Counter[str] = Counter()
    differing = []
    seconds = 0.0
    for number, each in enumerate(prepared("python")):
        infer = JediInference(each.root)
        share = count // len(names) + (number < count % len(names))
        found = sorted(sites(each, seed, 8), key=lambda site: draw(seed, f"{site.path} {site.at}"))[:share]
        for site in found:
            source = decode((each.root / site.path).read_bytes()).encode()
            begin = time.perf_counter()
            sort, type_ = infer(source, site.at)
            seconds += time.perf_counter() - begin
            told[verdict(site, sort, type_)] += 1
            if verdict(site, sort, type_) == "both tell a type: different ones":
                differing.append(f"{each.info.name} {site.path} byte {site.at}: {site.type}, jedi {type_}")
    print(f"\n| {sum(told.values())} receivers, seed {seed} | |\n|---|--:|")
    print("".join(f"| {name} | {n} |\n" for name, n in sorted(told.items())), end="")
    print(f"\njedi: {1000 * seconds / sum(told.values()):.0f} ms a receiver")
    print("".join(f"- {line}\n" for line in differing), end="")


def verdict(site: Site, sort: str, type_: str) -> str:
    """Names are compared without their modules: jedi tells where a class is defined, not where it is imported from."""
    jedi = "object" if sort == "object" else "other" if sort in {"module", "class"} else "unknown"
    if site.sort == jedi == "object":
        same = site.type.rpartition(".")[2] == type_.rpartition(".")[2]
        return f"both tell a type: {'the same' if same else 'different ones'}"
    if site.sort == jedi:
        return "neither tells" if jedi == "unknown" else "both: a module or class"
    return f"local rules: {site.sort}, jedi: {jedi}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--output", type=Path)
    options.add_argument("--language", nargs="*", choices=PROJECTS, default=list(PROJECTS))
    options.add_argument("--agreement", type=int, default=0)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    for language in given.language if given.output else ():
        mine(language, given.output)
    if given.agreement:
        agreement(given.agreement, given.seed)


if __name__ == "__main__":
    main()
