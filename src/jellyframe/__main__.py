"""`python -m jellyframe` is the command `jellyframe`."""

import sys

from jellyframe.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
