"""Jelly-Patch bytes to batches, without I/O."""

from __future__ import annotations

from jellyframe.batch import BATCH_BYTES, Batch
from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.kernel.decode_patch_cy import PatchDecoder
from jellyframe.options import DEFAULT_LIMITS, Limits, check_batch_rows
from jellyframe.patch.options import PatchOptions
from jellyframe.stream.decoder import (
    AnyStreamDecoder,
    KernelOptions,
    kernel_options,
    options_callback,
)


class PatchStreamDecoder(AnyStreamDecoder[PatchOptions]):
    """Decodes a patch stream, or several concatenated ones, into batches with the column `op`.

    Args:
        limits: the limits for untrusted input.
        strict: refuse all that the specification lets a consumer refuse: transactions that start or end where they
            must not, or are open at the end; graphs in a stream of triples, which are otherwise ignored; and namespaces
            without a graph before the first graph of a stream of quads, which are otherwise in the default graph.
        concatenated: every options row begins a new stream; otherwise a repeated one has to be identical, and changes
            nothing.
        delimited: whether the frames are delimited; by default the first three bytes decide.
        batch_rows: the maximum number of rows in a batch.
        self_contained: refuse a stream whose first entry has no id, as required at a restart point.
        start: the offset of the first byte that will be pushed, for errors.
        first_frame: the number of the first frame.
        source_name: the name of the input in errors.
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
