"""A pool of worker processes that end with this process, whatever ends it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


def process_context() -> BaseContext:
    """Return the method to start processes: fork, which is fast, unless threads or the system forbid it."""
    has_fork = "fork" in multiprocessing.get_all_start_methods()
    # Libraries of macOS do not survive a fork, and a fork copies the locks of other threads, but not the threads.
    if has_fork and sys.platform != "darwin" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


class WorkerPool:
    """Worker processes that call functions. They end with the `with` block, or when this process ends or is killed.

    `initialize` is called once in each of them, with `arguments`, which need not be picklable if processes are forked.
    """

    def __init__(self, context: BaseContext, jobs: int, initialize: Callable[..., object], *arguments: object) -> None:
        reader, self._lifeline = context.Pipe(duplex=False)
        inherited = self._lifeline if context.get_start_method() == "fork" else None
        self._reader = reader
        self._executor = ProcessPoolExecutor(
            jobs, context, initializer=_begin, initargs=(reader, inherited, initialize, arguments)
        )

    def submit(self, function: Callable[_P, _T], *arguments: _P.args, **settings: _P.kwargs) -> Future[_T]:
        """Call a function in a worker."""
        # An interrupt waits until new processes ignore it.
        mask = _block_interrupts()
        try:
            return self._executor.submit(function, *arguments, **settings)
        except BrokenProcessPool:
            raise killed_worker() from None
        finally:
            _restore_interrupts(mask)

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_exception: object) -> None:
        if kind is not None:
            # The results of running calls are no longer needed.
            self._lifeline.close()
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._lifeline.close()
        self._reader.close()


def result_of(future: Future[_T]) -> _T:
    """Return the result of a call that is done. An exception of the function is raised unchanged."""
    try:
        return future.result()
    except BrokenProcessPool:
        raise killed_worker() from None


def killed_worker() -> ChildProcessError:
    return ChildProcessError(
        0, "a worker process ended before it was done, perhaps for lack of memory: fewer jobs need less"
    )


def _begin(
    lifeline: Connection,
    inherited: Connection | None,
    initialize: Callable[..., object],
    arguments: tuple[object, ...],
) -> None:
    """Prepare a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The signal handlers of the parent, such as removing unfinished files, must not run in workers.
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if inherited is not None:
        # The other end is notified only when all copies of this end are closed.
        inherited.close()
    threading.Thread(target=_exit_with_parent, args=(lifeline,), daemon=True).start()
    initialize(*arguments)


def _exit_with_parent(lifeline: Connection) -> None:
    """Wait until the parent process closes its end of the pipe, or has ended; then end this process."""
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(1)


def _block_interrupts() -> set[signal.Signals | int] | None:
    if hasattr(signal, "pthread_sigmask"):
        return signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    return None


def _restore_interrupts(mask: set[signal.Signals | int] | None) -> None:
    if mask is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
