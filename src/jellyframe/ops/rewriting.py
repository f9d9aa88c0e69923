"""Transcode with several processes: each rewrites pieces of the input, and the results are joined in order.

A piece begins at a restart point, and is rewritten as a separate stream. Such streams can be concatenated to one if
their options are the same. If the data has an error, or its pieces cannot be joined, there is no output: then one
process rewrites everything, which gives the right result, or an error with its position.
"""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING

from jellyframe.defaults import DEFAULT_RESTART_EVERY
from jellyframe.errors import JellyError
from jellyframe.ops.pieces import Output, Rewriting, Rewritten, pieces_of
from jellyframe.ops.regroup import FramePerInput
from jellyframe.storage.sources import total_size
from jellyframe.stream.kinds import statement_streams

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

    from jellyframe.ops.progress import ProgressMeter


def rewrite_in_pieces(
    paths: list[str],
    target: str,
    rewriting: Rewriting,
    jobs: int,
    meter: ProgressMeter,
    piece_bytes: int = DEFAULT_RESTART_EVERY,
    context: BaseContext | None = None,
) -> Rewritten | None:
    """Rewrite files as one, with several processes. Returns None, without output, if one process has to do it.

    Errors in the data are left to that one process, which finds the first of them. All other errors are raised.
    """
    settings = rewriting.settings.copy()
    compression = settings.pop("compression", None)
    has_index = settings.pop("index", False)
    restart_every = settings.setdefault("restart_every", DEFAULT_RESTART_EVERY)
    if (
        jobs < 2
        or restart_every is None
        or not settings.get("delimited", True)
        or isinstance(rewriting.framing, FramePerInput)
        or rewriting.options.logical_type.is_grouped
        or (has_index and compression is not None)
        or (os.path.exists(target) and not os.path.isfile(target))
    ):
        return None
    if restart_every > DEFAULT_RESTART_EVERY:
        # Each piece begins with a restart point, and these should not be closer than requested.
        piece_bytes = max(piece_bytes, restart_every)
    total = total_size(paths) or 0
    if total <= piece_bytes:
        return None
    pieces = pieces_of(paths, piece_bytes, statement_streams(rewriting.dialect))
    try:
        first = next(pieces)
        if sum(span.size for span in first) == total:
            return None
        # The modules for processes take time to import, and most files are one piece.
        from jellyframe.ops.joining import join_pieces

        options = rewriting.options.with_version(uses_1_1=has_index)
        rewriting = rewriting._replace(options=options, settings=settings)
        jobs = min(jobs, total // piece_bytes + 1)
        output = Output(target, compression, has_index)
        return join_pieces(chain([first], pieces), output, rewriting, jobs, meter, context)
    except JellyError:
        return None
