"""Jelly-Patch bytes to batches, without I/O."""

from __future__ import annotations

from jellyframe.batch import BATCH_BYTES, Batch
from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.kernel.decode_patch_cy import PatchDecoder
from jellyframe.options import DEFAULT_LIMITS, Limits
from jellyframe.patch.options import PatchOptions
from jellyframe.stream.decoder import (
    AnyStreamDecoder,
    KernelOptions,
    check_batch_rows,
    kernel_options,
    options_callback,
)


class PatchStreamDecoder(AnyStreamDecoder[PatchOptions]):
    """Decodes a patch stream, or several end to end, into batches that have the column `op`.

    Args:
        limits: what untrusted input may ask for.
        strict: refuse what the specification lets a consumer refuse or ignore: transactions that start or end where
            they must not, or are open at the end, graphs in a stream of triples, and namespaces without a graph before
            the first graph of a stream of quads, which are else in the default graph.
        concatenated: every options row begins a new stream; otherwise a repeated one has to be identical, and changes
            nothing.
        delimited: whether the frames have their lengths in front; by default the first three bytes tell.
        batch_rows: rows in a batch, at most.
        self_contained: refuse a stream that begins by leaving out an id, as at a restart point.
        start: the offset of the first byte that will be pushed, for errors.
        first_frame: the number of the first frame.
        source_name: what errors call the input.
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        strict: bool = True,
        concatenated: bool = False,
        delimited: bool | None = None,
        batch_rows: int = DEFAULT_BATCH_ROWS,
        self_contained: bool = False,
        start: int = 0,
        first_frame: int = 0,
        source_name: str | None = None,
    ) -> None:
        limits = limits or DEFAULT_LIMITS
        check_batch_rows(batch_rows)
        kernel = PatchDecoder(
            options_callback(self._read_options),
            limits.max_nesting_depth,
            limits.max_frame_bytes,
            batch_rows,
            BATCH_BYTES,
            concatenated,
            strict,
        )
        super().__init__(
            kernel,
            limits,
            delimited=delimited,
            self_contained=self_contained,
            start=start,
            first_frame=first_frame,
            source_name=source_name,
        )

    def _parse_options(self, message: bytes) -> PatchOptions:
        return PatchOptions.from_bytes(message)

    def _check_options(self, options: PatchOptions) -> None:
        options.check_readable(self._limits)

    def _kernel_options(self, options: PatchOptions) -> KernelOptions:
        return kernel_options(options, options.statement_type, options.stream_type)

    def _take_batch(self) -> Batch:
        columns, terms, first_frame, ends, is_open, metadata, _namespaces, op = self._kernel.take_batch()
        return Batch(
            columns,
            terms,
            op=op,
            first_frame=first_frame,
            frame_ends=ends,
            last_frame_open=is_open,
            metadata=metadata,
        )
