"""Ranges of offsets: exactly the frames from one offset to another, however often they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jellyframe.batch import Batch
from jellyframe.errors import RemoteError
from jellyframe.grpc.client.blocking import Client
from jellyframe.grpc.protocol import frame_offset


def read_range(client: Client, topic: str, start: int, stop: int) -> Iterator[Batch]:
    """Yield the statements of the frames with offsets from `start` to `stop`, without `stop`.

    Raises:
        RemoteError: if the server no longer has one of them, or does not send offsets
    """
    if start >= stop:
        return
    with client.subscribe(topic, from_=start) as subscription:
        yield from cut_range(subscription.batches(), stop, client.address)


def cut_range(batches: Iterable[Batch], stop: int, address: str) -> Iterator[Batch]:
    """Yield the frames of batches whose offsets are below `stop`, without reading more batches than necessary."""
    # Parts of a frame whose end, which has its offset, has not arrived yet.
    open_parts: list[Batch] = []
    for batch in batches:
        taken = 0
        for span in batch.frame_spans():
            if not span.is_complete:
                break
            offset = frame_offset(batch.metadata.get(span.number, {}))
            if offset is None:
                raise RemoteError("the server does not send the offsets of frames", source=address)
            if offset >= stop:
                if taken:
                    yield batch.slice(0, taken)
                return
            yield from open_parts
            open_parts = []
            taken = span.stop
            if offset == stop - 1:
                yield batch.slice(0, taken)
                return
        if taken:
            yield batch.slice(0, taken)
        if taken < len(batch):
            open_parts.append(batch.slice(taken, len(batch)))
    raise RemoteError(f"the topic ended before the frame at offset {stop - 1}", source=address)
