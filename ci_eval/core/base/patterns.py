"""The regular expressions of a configuration, matched by RE2: in time proportional to the text, whatever they are."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

import re2

from ci_eval.core.base.errors import ConfigError


def matches(pattern: str, text: str) -> bool:
    """Return whether the pattern matches the whole text. Raises ConfigError if the pattern is invalid."""
    return compile_pattern(pattern).fullmatch(text) is not None


@lru_cache
def compile_pattern(pattern: str) -> re2._Regexp:
    """Return the compiled pattern, if Python and RE2 understand it alike. Raises ConfigError with the reason."""
    options = re2.Options()
    # RE2 would also write its errors to stderr, beside the message of ci-eval.
    options.log_errors = False
    try:
        with warnings.catch_warnings():
            # Python warns of such patterns: `[a-z&&[^b]]` is an intersection in Java, and something else here.
            warnings.simplefilter("error")
            re.compile(pattern)
    except (re.error, Warning, OverflowError, RecursionError) as error:
        raise ConfigError(f"expected a Python regular expression ({error})") from error
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        raise ConfigError(
            f"expected a regular expression without lookaround, backreferences and long repetitions ({reason})"
        ) from error
