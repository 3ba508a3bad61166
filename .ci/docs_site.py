"""Hooks of mkdocs: add SECURITY.md and CONTRIBUTING.md to the site, and let other links lead to the repository."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
REPOSITORY = "/".join(
    (os.environ.get("GITHUB_SERVER_URL", "https://github.com"), os.environ.get("GITHUB_REPOSITORY", "OWNER/ci-eval"))
)
PAGES = ("SECURITY.md", "CONTRIBUTING.md")
LINK = re.compile(r"(?<=\]\()([^)\s:#]+)(?=[)#])")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are at the top of the repository, where its hosts look for them."""
    for name in PAGES:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links out of docs/ lead to the added pages, else to the repository."""
    folder = ROOT if page.file.src_uri in PAGES else (ROOT / "docs" / page.file.src_uri).parent

    def lead(link: re.Match[str]) -> str:
        target = (folder / link[0]).resolve()
        inside = target.relative_to(ROOT).as_posix()
        if inside in PAGES or target.is_relative_to(ROOT / "docs"):
            place = inside.removeprefix("docs/")
            return os.path.relpath(place, Path(page.file.src_uri).parent)
        return f"{REPOSITORY}/{'tree' if target.is_dir() else 'blob'}/main/{inside}"

    return LINK.sub(lead, markdown)
