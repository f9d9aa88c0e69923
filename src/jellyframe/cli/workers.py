"""Processes that work for this one: copies of it, each made by fork for one piece of work, and gone afterwards.

A fork has all modules loaded and needs no arguments sent to it. Whatever ends this process ends its workers, too.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

_PIPE_BYTES = 1 << 16


class WorkerGaveUpError(Exception):
    """A worker could not do its work. What was wrong, whoever does the same here will find out."""


def can_fork() -> bool:
    """Whether processes can be copied; on macOS they can, but its libraries may not survive it."""
    return hasattr(os, "fork") and sys.platform != "darwin"


def usable_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Worker:
    """A process at work. `result` is what came of it, once it `is_finished`."""

    def __init__(self, pid: int, pipe: int) -> None:
        self._pid = pid
        self.pipe = pipe
        self._received = b""
        self.is_finished = False
        self.result: Any = None

    def receive(self) -> None:
        """Take what has arrived in the pipe. Raises if the worker gave up, or died."""
        data = os.read(self.pipe, _PIPE_BYTES)
        self._received += data
        if data:
            return
        self.is_finished = True
        code = self._collect()
        try:
            self.result = pickle.loads(self._received)
        except (EOFError, pickle.UnpicklingError):
            how = f"ended by signal {-code}" if code is not None and code < 0 else "ended"
            message = f"a worker process was {how} before it was done; it may lack memory: --jobs 1 needs less"
            raise ChildProcessError(0, message) from None
        if self.result is None:
            raise WorkerGaveUpError

    def end(self) -> None:
        """End the process, whatever it is at."""
        if not self.is_finished:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            self.is_finished = True
            self._collect()

    def _collect(self) -> int | None:
        """The exit code of a process that ends now, negative if a signal ended it; None where nobody knows."""
        os.close(self.pipe)
        try:
            return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        except ChildProcessError:
            # Who started us may have us ignore our children, who are then collected without us.
            return None


class Workers:
    """Some workers, all of which end with the block."""

    def __init__(self) -> None:
        self._at_work: list[Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_exception: object) -> None:
        for worker in self._at_work:
            worker.end()

    def __len__(self) -> int:
        return len(self._at_work)

    def start(self, work: Callable[[], Any]) -> Worker:
        """Have a process call `work`, whose result must be picklable and not None."""
        receiving, sending = os.pipe()
        # An interrupt waits until the new process is listed here, to be ended, and until that one ignores interrupts.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            pid = os.fork()
            if pid == 0:
                _work_and_exit(work, sending)
            worker = Worker(pid, receiving)
            self._at_work.append(worker)
        except OSError:
            os.close(receiving)
            raise WorkerGaveUpError from None
        finally:
            os.close(sending)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return worker

    def wait(self, seconds: float | None) -> None:
        """Wait until a worker has something to say, but no longer than so many seconds."""
        pipes = {worker.pipe: worker for worker in self._at_work}
        for pipe in select.select(list(pipes), [], [], seconds)[0]:
            pipes[pipe].receive()
        self._at_work = [worker for worker in self._at_work if not worker.is_finished]


def exit_if_orphaned(parent: int) -> None:
    """End this process if the one that started it is gone: nobody waits for what it does."""
    if os.getppid() != parent:
        os._exit(1)


def _work_and_exit(work: Callable[[], Any], sending: int) -> NoReturn:
    """What a worker does. It never returns: the rest of the program is for the process that it is a copy of."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            result = work()
        except Exception:
            result = None
        with open(sending, "wb") as pipe:
            pickle.dump(result, pipe)
    finally:
        os._exit(0)
