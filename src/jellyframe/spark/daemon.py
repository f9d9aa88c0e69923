"""Fork Spark's Python workers, and suppress their tracebacks about broken pipes.

A query that needs only a few rows, such as `show()`, closes the pipes of its workers when it has them, and
`pyspark.daemon` prints a traceback for each worker that is still sending. Local sessions of `jellyframe.spark.session`
use this module in its place (setting `spark.python.daemon.module`).
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
