"""Reading patch streams: rows, patches, transactions and batches as views of one stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from jellyframe.batch import Batch
from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.options import DEFAULT_LIMITS, Limits
from jellyframe.patch.batches import rows_of
from jellyframe.patch.decoder import PatchStreamDecoder
from jellyframe.patch.groups import Patch, Transaction, patches_of, transactions_of
from jellyframe.patch.options import PatchOptions
from jellyframe.patch.recovery import RecoveringPatches, patch_streams
from jellyframe.patch.rows import PatchRow
from jellyframe.storage.types import FileSystem, Source
from jellyframe.stream.decoder import LookupEntries
from jellyframe.stream.exclusive import ExclusiveIterator
from jellyframe.stream.opening import ReadingPlace, Recovery, open_batches
from jellyframe.stream.reading import AnyReader, BatchSource
from jellyframe.stream.source_batches import SourceBatches

if TYPE_CHECKING:
    import pyarrow as pa

    from jellyframe.options import LayoutName
    from jellyframe.stream.recovery import Damage


def open_patch_reader(
    source: Source,
    *,
    limits: Limits | None = None,
    strict: bool = True,
    concatenated: bool = False,
    batch_rows: int = DEFAULT_BATCH_ROWS,
    delimited: bool | None = None,
    byte_range: tuple[int, int | None] | None = None,
    on_damage: Callable[[Damage], object] | None = None,
    filesystem: FileSystem | None = None,
) -> PatchReader:
    """Open a Jelly-Patch stream for reading.

    Args:
        source: a path, a URI, bytes, or a binary file object, which need not seek. gzip and Zstandard are detected.
        limits: the limits for untrusted input.
        strict: refuse all that the specification lets a consumer refuse: transactions that start or end where they
            must not, or are open at the end; graphs in a stream of triples, which are otherwise ignored; and namespaces
            without a graph before the first graph of a stream of quads, which are otherwise in the default graph.
        concatenated: every options row begins a new stream. By default, as the format specifies, a repeated one has to
            be identical and changes nothing.
        batch_rows: the maximum number of rows in a batch.
        delimited: whether the frames are delimited; by default the first bytes decide.
        byte_range: read from one restart point to another (see `jellyframe.stream.index`).
        on_damage: continue after damage, at the next restart point that is found by its bytes. The function is called
            with each loss, a `Damage`. A transaction that is partly lost ends with an abort (see
            `jellyframe.patch.recovery`). By default the first error ends reading.
        filesystem: a file system of pyarrow or fsspec, if the source is a path in it.
    """
    limits = limits or DEFAULT_LIMITS

    def decoder_at(place: ReadingPlace) -> PatchStreamDecoder:
        return PatchStreamDecoder(
            limits=limits,
            strict=strict,
            concatenated=concatenated,
            delimited=delimited if byte_range is None and place.is_start else True,
            batch_rows=batch_rows,
            self_contained=place.offset > 0,
            start=place.offset,
            first_frame=place.first_frame,
            source_name=place.source_name,
        )

    recovery: Recovery[PatchOptions] | None = None
    if on_damage is not None:
        recovery = partial(
            RecoveringPatches,
            on_damage=on_damage,
            limits=limits,
            concatenated=concatenated,
            kind=patch_streams(strict=strict),
        )
    return PatchReader(
        *open_batches(
            source, decoder_at, limits=limits, byte_range=byte_range, filesystem=filesystem, recovery=recovery
        )
    )


class PatchReader(AnyReader[PatchOptions]):
    """A reader of a patch stream. Its views share one position: rows that one has read are not returned by another.

    A reader is for one thread at a time. Views of a closed reader raise.

    Args:
        batches: the source of the batches; `open_patch_reader` opens one
        source_name: the name of the input in errors
    """

    def __init__(self, batches: BatchSource[PatchOptions], source_name: str | None = None) -> None:
        super().__init__(batches, source_name, "Jelly-Patch")

    @property
    def lookup_entries(self) -> LookupEntries | None:
        """The lookup entries read so far; None if there are none, as in text, or after damage."""
        batches = self._batches
        return batches.decoder.lookup_entries() if isinstance(batches, SourceBatches) else None

    def rows(self) -> Iterator[PatchRow]:
        """Return the stream row by row, punctuation marks included."""
        for batch in self.batches():
            yield from rows_of(batch)

    def patches(self) -> Iterator[Patch]:
        """Return the patches of the stream: by its type its frames, the whole stream, or the parts between marks.

        A patch is read as its rows are iterated. Going to the next one skips its remaining rows.
        """
        return patches_of(self._guarded_batches(), self.options.stream_type)

    def transactions(self) -> Iterator[Transaction]:
        """Return the transactions of the stream and, as groups that are not explicit, the rows outside of them."""
        return transactions_of(self._guarded_batches())

    def record_batches(
        self, layout: LayoutName = "struct", *, columns: Sequence[str] | None = None, dictionary: bool = False
    ) -> pa.RecordBatchReader:
        """Return the rest of the stream as Arrow record batches, which are decoded lazily.

        The column `op` is the operation of a row; `P` ends a patch, for all types of streams. The schema's
        metadata has the options of the stream, for `write_table`.

        Args:
            layout: `struct`, `ntriples` or `flat`, as in `read_table`
            columns: the columns to make; all by default
            dictionary: encode strings with a dictionary, which is the term table of each batch
        """
        from jellyframe.patch.tables import record_batches

        return record_batches(self._guarded_batches(), self.options, layout, columns=columns, dictionary=dictionary)

    def read_table(
        self, layout: LayoutName = "struct", *, columns: Sequence[str] | None = None, dictionary: bool = False
    ) -> pa.Table:
        """Return the rest of the stream as an Arrow table; the arguments are those of `record_batches`.

        Args:
            layout: `struct`, `ntriples` or `flat`
            columns: the columns to make; all by default
            dictionary: encode strings with dictionaries
        """
        return self.record_batches(layout, columns=columns, dictionary=dictionary).read_all()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the rest of the stream through the Arrow C stream interface, in the layout `struct`."""
        return self.record_batches().__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[PatchRow]:
        return self.rows()

    def _guarded_batches(self) -> Iterator[Batch]:
        return ExclusiveIterator(self._exclusive, self._each_batch())
