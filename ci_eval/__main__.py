"""python -m ci_eval"""

from ci_eval.cli import main

if __name__ == "__main__":
    main()
