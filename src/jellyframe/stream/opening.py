"""Open a source as batches: from its start or from a restart point and, on request, also after damage."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from jellyframe.options import Limits, TableOptions, check_number
from jellyframe.storage.sources import ByteSource, position_of
from jellyframe.storage.types import FileSystem, Source
from jellyframe.stream.decoder import AnyStreamDecoder
from jellyframe.stream.source_batches import SourceBatches

if TYPE_CHECKING:
    from jellyframe.stream.reading import BatchSource
    from jellyframe.stream.recovery import RandomAccess, RecoveringBatches

# The largest that file systems have.
_LARGEST_OFFSET = (1 << 63) - 1
_OptionsT = TypeVar("_OptionsT", bound=TableOptions)
ByteRange: TypeAlias = tuple[int, int | None]
Recovery: TypeAlias = (
    "Callable[[RandomAccess, SourceBatches[_OptionsT], Callable[[int, int], SourceBatches[_OptionsT]]], "
    "RecoveringBatches[_OptionsT]]"
)


class ReadingPlace(NamedTuple):
    """The position where a decoder begins.

    Attributes:
        offset: the offset of its first byte in the source
        first_frame: the number of its first frame
        is_start: whether reading began there, not after damage
        source_name: the name of the source in errors
    """

    offset: int
    first_frame: int
    is_start: bool
    source_name: str | None


def open_batches(
    source: Source,
    decoder_at: Callable[[ReadingPlace], AnyStreamDecoder[_OptionsT]],
    *,
    limits: Limits,
    byte_range: ByteRange | None,
    filesystem: FileSystem | None,
    recovery: Recovery[_OptionsT] | None,
) -> tuple[BatchSource[_OptionsT], str | None]:
    """Return the batches of a source, and its name in errors.

    `decoder_at` makes the decoder for a place of the source. With `recovery`, reading continues after damage.
    """
    start, stop = byte_range or (0, None)
    check_number("the start of byte_range", start, 0, _LARGEST_OFFSET)
    if stop is not None:
        check_number("the end of byte_range", stop, start, _LARGEST_OFFSET)
    # A file object without a range is read from its current position.
    origin = position_of(source) if start == 0 else 0

    def open_at(offset: int, first_frame: int) -> SourceBatches[_OptionsT]:
        is_start = offset == start
        opened = ByteSource(
            source,
            limits,
            start=offset if is_start else origin + offset,
            stop=stop if is_start or stop is None else origin + stop,
            filesystem=filesystem,
        )
        return SourceBatches(opened, decoder_at(ReadingPlace(offset, first_frame, is_start, opened.name)))

    batches = open_at(start, 0)
    if recovery is None:
        return batches, batches.source.name
    from jellyframe.stream.recovery import RandomAccess

    place = RandomAccess(source, batches.source.compression is not None, origin, stop, filesystem)
    return recovery(place, batches, open_at), batches.source.name
