"""The command `python -m ci_eval`, the same as `ci-eval`."""

from ci_eval.cli import main

if __name__ == "__main__":
    main()
