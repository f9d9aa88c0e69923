"""The command `jellyframe`, which is also `python -m jellyframe`."""

from __future__ import annotations

import gc
import sys

# Objects that are allocated, and not yet freed, before garbage is searched for. By default it is 700, so that the
# search takes a tenth of the time of a short command, though all it sees are modules that are being loaded.
_COLLECT_AFTER = 20_000


def run() -> int:
    """Run the command line of this process and return the exit code."""
    gc.set_threshold(_COLLECT_AFTER)
    from jellyframe.cli.main import main

    code = main()
    # The process ends, so that nothing has to be searched for garbage once more.
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(run())
