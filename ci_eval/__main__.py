"""The program `ci-eval`, which is `python -m ci_eval` as well."""

import sys

try:
    from ci_eval.cli import main
except KeyboardInterrupt:
    # The imports take a moment, before anything else can handle Ctrl-C.
    sys.stderr.write("error: interrupted; nothing can be resumed: start again\n")
    sys.exit(130)

if __name__ == "__main__":
    main()
