"""The entry point: parse the arguments, run the command, and turn errors into one line and an exit code."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from jellyframe.cli.commands import build_parser
from jellyframe.cli.console import Console, flush_output
from jellyframe.cli.wording import describe, fitting_advice

EXIT_TROUBLE = 2
# What shells make of a program that these signals ended.
EXIT_INTERRUPTED = 130
EXIT_PIPE_CLOSED = 141

_HANDLED_SIGNALS = ("SIGTERM", "SIGHUP")


class _TerminatedError(BaseException):
    """Raised by signals that ask the process to end, so that everything that is open is cleaned up."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code."""
    _open_missing_descriptors()
    console = Console()
    try:
        with _signals_raise():
            return _run(argv, console)
    except _TerminatedError as error:
        console.end_progress()
        _end_by_signal(error.number)
        return EXIT_TROUBLE


def _run(argv: Sequence[str] | None, console: Console) -> int:
    code = _guarded(lambda: _run_command(argv, console), console)
    # What is left in the buffer of standard output may fail to be written, too.
    flushed = _guarded(_flush_stdout, console)
    console.end_progress()
    return flushed or code


def _run_command(argv: Sequence[str] | None, console: Console) -> int:
    words = sys.argv[1:] if argv is None else argv
    arguments = build_parser(words).parse_args(words)
    console.quiet = arguments.quiet
    console.debug = arguments.debug
    arguments.console = console
    with fitting_advice(arguments):
        code: int = arguments.run(arguments)
    return code


def _guarded(do: Callable[[], int], console: Console) -> int:
    """Call a function and return its exit code, or the one for the exception that it raises."""
    try:
        return do()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else EXIT_TROUBLE
    except KeyboardInterrupt:
        console.end_progress()
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        console.end_progress()
        _abandon_stdout()
        return EXIT_PIPE_CLOSED
    except Exception as error:
        console.end_progress()
        _abandon_stdout_if_full()
        console.traceback()
        console.error(describe(error))
        return EXIT_TROUBLE


# ---- signals ----


@contextmanager
def _signals_raise() -> Iterator[None]:
    """Raise an exception on signals that end a process, unless they are ignored, as with `nohup`."""
    before: dict[int, Any] = {}

    def handle(number: int, _frame: FrameType | None) -> None:
        for other in before:
            # An exception has been raised already: another one would disturb the clean-up.
            signal.signal(other, signal.SIG_IGN)
        raise _TerminatedError(number)

    for name in _HANDLED_SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            # Only the main thread may do this; in another one nothing changes.
            with suppress(ValueError):
                before[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_by_signal(number: int) -> None:
    """End this process by a signal, so that its parent process sees which signal ended it."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


# ---- standard streams ----


def _open_missing_descriptors() -> None:
    """Open /dev/null in place of standard streams that are closed: files that are opened must not take their numbers.

    Python's own `sys.stdout` and so on stay None.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _flush_stdout() -> int:
    flush_output()
    return 0


def _abandon_stdout_if_full() -> None:
    """Drop the buffer of standard output: the interpreter would try to write it again at exit, and fail."""
    try:
        _flush_stdout()
    except (OSError, ValueError):
        _abandon_stdout()


def _abandon_stdout() -> None:
    """Redirect standard output to /dev/null, so that the interpreter's final flush does not fail."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
