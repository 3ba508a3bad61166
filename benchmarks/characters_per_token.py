"""Characters per token of real code: what an estimate for `engine.window.charactersPerToken` can lean on.

python benchmarks/characters_per_token.py TOKENIZER.json: a tokenizer in the format of the package `tokenizers`, which
must be installed; projects are downloaded unless they are in the cache. The figures in docs/models.md are those of the
one in the wheel anthropic==0.38.0.
"""

import statistics
import sys
from importlib import import_module

from ci_eval.core import machine
from ci_eval.core.base.files import below, read_own
from ci_eval.core.fetch import project
from ci_eval.core.grammar.document import decode

PROJECTS = {
    "python": ("pypi:networkx==3.3", ".py"),
    "javascript": ("npm:mathjs@3.20.2", ".js"),
    "go": ("go:github.com/spf13/cobra@v1.8.1", ".go"),
    "java": ("maven:com.google.code.gson:gson:2.11.0", ".java"),
}
FEWEST = 500
"""Characters of the smallest file that counts by itself."""


def main() -> None:
    """Print, per language: files, characters per token of all, and of the file at the 5th percentile."""
    encode = import_module("tokenizers").Tokenizer.from_file(sys.argv[1]).encode
    for language, (spec, suffix) in PROJECTS.items():
        root = project.prepare(spec, cache=machine.cache_folder()).root
        texts = [decode(read_own(root, path)) for path in sorted(below(root, root, [suffix]))]
        sizes = [(len(text), len(encode(text).ids)) for text in texts if len(text) >= FEWEST]
        of_each = [characters / tokens for characters, tokens in sizes]
        overall = sum(characters for characters, _ in sizes) / sum(tokens for _, tokens in sizes)
        print(f"{language:12} {len(sizes):4} {overall:.2f} {statistics.quantiles(of_each, n=20)[0]:.2f}")


if __name__ == "__main__":
    main()
