"""The process from which Spark forks its Python workers, without tracebacks of workers whose output is not read.

A query that needs a few rows only, as `show()` does, stops listening to its workers when it has them. `pyspark.daemon`
prints a traceback for each worker that was still sending. The sessions of `jellyframe.spark.session` on one machine use
this module instead of it (setting `spark.python.daemon.module`).
"""

from __future__ import annotations

import socket

from pyspark import daemon

_FAILED = 1
_work = daemon.worker


def quiet_worker(sock: socket.socket, authenticated: bool) -> int:
    """Run a worker and return its exit code."""
    try:
        return _work(sock, authenticated)
    except BrokenPipeError:
        return _FAILED


if __name__ == "__main__":
    daemon.worker = quiet_worker
    daemon.manager()
