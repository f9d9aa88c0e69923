"""The entry point: parse the arguments, run the command, and turn what goes wrong into a line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from jellyframe.cli.commands import build_parser
from jellyframe.cli.console import Console, UsageError

EXIT_TROUBLE = 2
# What shells make of a program that these signals ended.
EXIT_INTERRUPTED = 130
EXIT_PIPE_CLOSED = 141

# The packages that commands may need and a plain installation lacks.
_EXTRA_OF_MODULE = {"pyoxigraph": "cli", "google": "cli", "rdflib": "rdflib", "pyspark": "spark", "pandas": "spark"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; the answer is the exit code."""
    debug = False
    console = Console()
    try:
        words = sys.argv[1:] if argv is None else argv
        arguments = build_parser(words).parse_args(words)
        debug = arguments.debug
        arguments.console = console = Console(quiet=arguments.quiet)
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else EXIT_TROUBLE
    except KeyboardInterrupt:
        console.end_progress()
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        console.end_progress()
        _let_go_of_stdout()
        return EXIT_PIPE_CLOSED
    except Exception as error:
        console.end_progress()
        if debug:
            import traceback

            traceback.print_exc()
        console.error(_describe(error))
        return EXIT_TROUBLE
    finally:
        console.end_progress()
    return code


def _describe(error: Exception) -> str:
    """An error in one line: the place, and what is wrong there."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        extra = _EXTRA_OF_MODULE.get(error.name.partition(".")[0])
        if extra is not None:
            return f"this needs the package {error.name}: pip install 'jellyframe[{extra}]'"
    from jellyframe.errors import JellyError

    if isinstance(error, UsageError | JellyError):
        return str(error)
    return f"{type(error).__name__}: {error} (a mistake in jellyframe; --debug shows where)"


def _let_go_of_stdout() -> None:
    """Have nothing more to say to a pipe that nobody reads: Python would complain about that when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
