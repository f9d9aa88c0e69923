"""Processes that work for this one: copies of it, made by fork, so that they have all that is loaded here.

Whatever ends this process ends its workers, too.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, NoReturn


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
    """A process that does one task after the other; a task may be given to it when it `is_idle`."""

    def __init__(self, pid: int, tasks: IO[bytes], results: IO[bytes]) -> None:
        self._pid = pid
        self._tasks = tasks
        self.results = results
        self.is_idle = True

    def give(self, task: object) -> None:
        self.is_idle = False
        # A worker that has died is noticed where its result is awaited.
        with suppress(BrokenPipeError):
            pickle.dump(task, self._tasks)
            self._tasks.flush()

    def take_result(self) -> Any:
        """What came of the task. Raises if the worker gave up, or died."""
        try:
            result = pickle.load(self.results)
        except (EOFError, pickle.UnpicklingError):
            code = self._exit_code()
            how = f"ended by signal {-code}" if code is not None and code < 0 else "ended"
            message = f"a worker process was {how} before it was done; it may lack memory: --jobs 1 needs less"
            raise ChildProcessError(0, message) from None
        if result is None:
            raise WorkerGaveUpError
        self.is_idle = True
        return result

    def end(self) -> None:
        """End the process, whatever it is at."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        self._exit_code()
        for pipe in (self._tasks, self.results):
            with suppress(BrokenPipeError):
                pipe.close()

    def _exit_code(self) -> int | None:
        """The exit code of a process that ends now, negative if a signal ended it; None where nobody knows."""
        try:
            return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        except ChildProcessError:
            # We may have asked before; or who started us has us ignore our children, who are then collected without us.
            return None


class Workers:
    """Some workers, all of which end with the block."""

    def __init__(self) -> None:
        self._workers: list[Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_exception: object) -> None:
        for worker in self._workers:
            worker.end()

    def start(self, work: Callable[[Any], Any]) -> Worker:
        """A process that calls `work` with each task. Tasks and results are pickled; None is no result."""
        task_reader, task_writer = os.pipe()
        result_reader, result_writer = os.pipe()
        # An interrupt waits until the new process is listed here, to be ended, and until that one ignores interrupts.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            pid = os.fork()
            if pid == 0:
                # With these open, it would not notice the end of the process that it works for.
                os.close(task_writer)
                os.close(result_reader)
                _work_and_exit(work, task_reader, result_writer)
            worker = Worker(pid, open(task_writer, "wb"), open(result_reader, "rb"))  # noqa: SIM115
            self._workers.append(worker)
        except OSError:
            os.close(task_writer)
            os.close(result_reader)
            raise WorkerGaveUpError from None
        finally:
            os.close(task_reader)
            os.close(result_writer)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return worker

    def finished(self, seconds: float | None) -> list[Worker]:
        """The workers whose results can be taken. Waits until there is one, but no longer than so many seconds."""
        pipes = {worker.results: worker for worker in self._workers}
        return [pipes[pipe] for pipe in select.select(list(pipes), [], [], seconds)[0]]


def exit_if_orphaned(parent: int) -> None:
    """End this process if the one that started it is gone: nobody waits for what it does."""
    if os.getppid() != parent:
        os._exit(1)


def _work_and_exit(work: Callable[[Any], Any], task_reader: int, result_writer: int) -> NoReturn:
    """What a worker does. It never returns: the rest of the program is for the process that it is a copy of."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with open(task_reader, "rb") as tasks, open(result_writer, "wb") as results:
            while True:
                task = pickle.load(tasks)
                try:
                    result = work(task)
                except Exception:
                    result = None
                pickle.dump(result, results)
                results.flush()
    finally:
        # At the end of the tasks, too, which is an error to pickle.
        os._exit(0)
