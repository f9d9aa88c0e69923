"""Apply patches to data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from jellyframe import formats
from jellyframe.batch.lines import row_line
from jellyframe.defaults import DEFAULT_RESTART_EVERY
from jellyframe.errors import NamedGraphError
from jellyframe.formats.settings import JellySettings, WriteSettings
from jellyframe.ops.converting import Conversion, output_format, stream_options_for, write_output
from jellyframe.ops.patches.committed import CommittedRows
from jellyframe.ops.patches.core import ApplyCounts, apply_batches
from jellyframe.ops.patches.namespaces import NamespaceChanges
from jellyframe.ops.patches.sources import DataSource, PatchSources
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.storage.names import compression_by_name
from jellyframe.storage.sinks import ByteSink

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.options import Limits, StreamOptions
    from jellyframe.storage.types import Compression, Sink, Source


class Applied(NamedTuple):
    """The result of `apply`.

    Attributes:
        statements: statements that were written
        added: statements that the patches added and the data did not have
        deleted: statements of the data that the patches deleted
        committed: transactions that were committed
        aborted: transactions that were aborted, or not finished
    """

    statements: int
    added: int
    deleted: int
    committed: int
    aborted: int


def apply(
    data: Source,
    patches: Source | Sequence[Source],
    to: Sink,
    *,
    in_format: str | None = None,
    patch_format: str | None = None,
    out_format: str | None = None,
    compression: Compression | None = None,
    options: StreamOptions | None = None,
    strict: bool = True,
    concatenated: bool = False,
    limits: Limits | None = None,
    progress: ProgressCallback | None = None,
) -> Applied:
    """Apply patches, one after the other, to data, and write the result.

    For each statement the last operation counts, in the order of the patches. Transactions count only if they
    are committed. The remaining statements of the data are written in their order, then the new ones, in the order of
    the patches. Data is a set: adding an existing statement, or deleting a missing one, changes nothing. Repeated
    statements of the data stay repeated, unless they are deleted. Memory does not grow with the data or the patches.

    Args:
        data: a path (of a file, a folder or a pattern), a URI, bytes, or a binary file object
        patches: one source, or several in order; a folder means the patches in it, in the order of their names
        to: the output: a path, which may be that of the data, or a binary file object
        in_format: the format of the data; by default that of the file name, or otherwise Jelly
        patch_format: `jelly-patch` or `rdfp`; by default that of the file name, or otherwise Jelly-Patch
        out_format: the format of the result; by default that of the file name, or otherwise N-Quads
        compression: gzip or zstd; by default it follows from the name of the output
        options: the options of the stream, if the result is one of Jelly
        strict: whether to refuse patches whose transactions start or end out of turn, or are open at the end
        concatenated: whether every options row of Jelly begins a new stream
        limits: the limits for untrusted input
        progress: a function that is called with a `Progress`, as the data is read
    """
    target = output_format(out_format, to)
    is_path = isinstance(to, str | os.PathLike)
    compression = compression_by_name(to) if compression is None else compression
    counts = ApplyCounts()
    with ExitStack() as stack:
        source = stack.enter_context(DataSource(data, in_format, limits=limits, concatenated=concatenated))
        changes = stack.enter_context(
            PatchSources(patches, patch_format, limits=limits, strict=strict, concatenated=concatenated)
        )
        meter = ProgressMeter(progress, source.total_bytes)
        committed = stack.enter_context(CommittedRows(changes.batches))
        renamed = NamespaceChanges.of(committed)
        has_graph = target.has_graphs and (source.has_graph() or _names_graphs(committed.changes()))
        batches = apply_batches(lambda: source.batches(meter), committed.changes, counts=counts)
        # The namespaces are those declared up to the end of the first batch.
        start = [batch for batch in (next(batches, None),) if batch is not None]
        names = renamed.applied_to(source.namespaces)
        settings = WriteSettings(has_graph=has_graph, namespaces=names, source=source.name)
        if target.is_stream:
            plan = Conversion(base_options=options)
            settings = WriteSettings(
                options=stream_options_for(plan, has_graphs=has_graph, has_namespaces=bool(names)),
                jelly=JellySettings(restart_every=DEFAULT_RESTART_EVERY if is_path else None),
                source=source.name,
            )
            assert settings.options is not None
            has_graph = settings.options.has_graph
        sink = stack.enter_context(ByteSink(to, compression))
        fitted = (_fitted(batch, target, has_graph=has_graph) for batch in chain(start, batches))
        write_output(sink, target, settings, fitted, lambda: renamed.applied_to(source.namespaces))
    return Applied(
        counts.kept + counts.added,
        counts.added,
        counts.deleted,
        committed.committed,
        committed.aborted + committed.unfinished,
    )


def _fitted(batch: Batch, target: formats.Format, *, has_graph: bool) -> Batch:
    """Return a batch in a form that the result can hold."""
    try:
        return batch.fitted(has_graph=has_graph)
    except NamedGraphError as error:
        holder = "a stream of triples" if target.has_graphs else target.title
        raise NamedGraphError(
            f"the result has a statement in a named graph, which {holder} cannot hold; write quads, for instance "
            f"N-Quads: {row_line(batch, error.row or 0)}"
        ) from None


def _names_graphs(changes: Iterator[Batch]) -> bool:
    return any(batch.first_named_graph() is not None for batch in changes)
