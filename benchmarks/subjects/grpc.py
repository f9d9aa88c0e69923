"""The gRPC server against one that forwards bytes without decoding them: same grpcio, same frames, same clients.

Both servers are processes; the clients are in this one. Frames are those that pyjelly writes.
"""

import asyncio
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from .. import peers
from ..comparison import measurement
from ..datasets import DATASETS
from ..registry import Measurement, Row, Settings, once
from ..timing import Contestant, rates
from ..workload import Workload

DATASET = "people"
MANY = 50
FORWARD = Row("grpc-forward", "gRPC: one publisher, one subscriber", "a server that forwards bytes", "frames/s", 0.6)
FAN_OUT = Row("grpc-fan-out", f"gRPC: {MANY} subscribers", "a server that forwards bytes", "frames/s", 0.6)
PAIR = Row("grpc-pair", "gRPC: encode, publish, subscribe, decode", "pyjelly, the same", "statements/s", 10)
PAIR_FRAMES = Row("grpc-pair-frames", "gRPC: the same in frames of pyjelly's size", "pyjelly", "statements/s", None)
LATENCY = Row("grpc-latency", "gRPC: a frame of 100 statements", "a server that forwards bytes", "s", 2, at_most=True)
LOG = Row("grpc-log", "gRPC: a topic with a log", "a live topic", "frames/s", 0.5)

_STATEMENTS = 500_000
_PAIR_STATEMENTS = 40_000
_LATENCIES = 300


@once("grpc", FORWARD, FAN_OUT, PAIR, PAIR_FRAMES, LATENCY, LOG)
def measure(settings: Settings, wanted: frozenset[str]) -> Iterator[Measurement]:
    from ..grpc_work import running

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        opaque = stack.enter_context(running("benchmarks.grpc_work"))
        ours = stack.enter_context(running("jellyframe", "grpc", "serve", "--config", _config(folder, "live")))
        log = stack.enter_context(running("jellyframe", "grpc", "serve", "--config", _config(folder, "log")))
        yield from _Contests(settings, wanted, ours, opaque, log).run()


def _config(folder: Path, retention: str) -> str:
    path = folder / f"{retention}.toml"
    kept = f'path = "{folder / "kept"}"\n' if retention == "log" else ""
    path.write_text(
        f'listen = "127.0.0.1:0"\n[topics.t]\nretention = "{retention}"\n{kept}slow = "block"\nmax_bytes = "1G"\n'
        if retention == "log"
        else 'listen = "127.0.0.1:0"\n[topics.t]\nretention = "live"\nslow = "block"\n'
    )
    return str(path)


class _Contests:
    def __init__(self, settings: Settings, wanted: frozenset[str], ours: str, opaque: str, log: str) -> None:
        self._settings = settings
        self._wanted = wanted
        self._ours, self._opaque, self._log = ours, opaque, log
        self._workload = Workload(DATASETS[DATASET], settings)

    def run(self) -> Iterator[Measurement]:
        from jellyframe.stream.framing import split_frames

        frames = split_frames(self._workload.jelly)
        yield from self._forward(FORWARD, frames[: _STATEMENTS // 100], 1, self._ours, self._opaque)
        yield from self._forward(FAN_OUT, frames[: _STATEMENTS // 2500], MANY, self._ours, self._opaque)
        yield from self._forward(LOG, frames[: _STATEMENTS // 100], 1, self._log, self._ours)
        yield from self._pair(PAIR, self._our_pair)
        yield from self._pair(PAIR_FRAMES, self._our_pair_in_frames)
        if LATENCY.name in self._wanted:
            yield self._latency()

    def _forward(self, row: Row, frames: list[bytes], subscribers: int, ours: str, peer: str) -> Iterator[Measurement]:
        from ..grpc_work import Clients

        if row.name not in self._wanted:
            return
        contestants = {
            side: Contestant(
                lambda address=address: Clients(address, subscribers).forward(frames),
                len(frames) * subscribers,
            )
            for side, address in (("ours", ours), ("peer", peer))
        }
        outcomes = self._rates(contestants)
        yield measurement(row, DATASET, outcomes["ours"], outcomes["peer"])

    def _rates(self, contestants: dict[str, Contestant]) -> dict[str, Any]:
        return rates(contestants, self._settings.repeats, collect_garbage=self._settings.collect_garbage)

    def _pair(self, row: Row, ours: Callable[[], int]) -> Iterator[Measurement]:
        if row.name not in self._wanted:
            return
        count = min(_PAIR_STATEMENTS, self._workload.peer_count)
        theirs = self._workload.peer_statements[:count]
        contestants = {
            "ours": Contestant(ours, self._workload.statements_count),
            "peer": Contestant(lambda: self._their_pair(theirs), count),
        }
        outcomes = self._rates(contestants)
        yield measurement(row, DATASET, outcomes["ours"], outcomes["peer"])

    def _our_pair(self) -> int:
        """Publish and subscribe with our own clients and their defaults."""
        return asyncio.run(self._publish_and_subscribe())

    async def _publish_and_subscribe(self) -> int:
        from jellyframe.grpc import aio

        async with aio.connect(self._ours) as publisher, aio.connect(self._ours) as subscriber:
            subscription = subscriber.subscribe("t")
            await subscription.started()
            publishing = asyncio.create_task(publisher.publish("t", self._workload.batches, self._workload.options))
            decoded = 0
            async for batch in subscription.batches():
                decoded += len(batch)
                if decoded >= self._workload.statements_count:
                    break
            await publishing
            await subscription.close()
            return decoded

    def _our_pair_in_frames(self) -> int:
        """Do the same in frames of pyjelly's size: batches are encoded, sent, and decoded as they arrive."""
        from jellyframe.stream.decoder import StreamDecoder

        from ..grpc_work import Clients

        decoder = StreamDecoder()
        decoded = 0

        def take(frame: bytes) -> None:
            nonlocal decoded
            decoder.push_frame(frame)
            decoded += sum(map(len, decoder.batches()))

        Clients(self._ours, 1).forward(_encoded(self._workload), take)
        decoder.finish()
        return decoded + sum(map(len, decoder.batches()))

    def _their_pair(self, statements: list[Any]) -> int:
        from ..grpc_work import Clients

        frames = [frame.SerializeToString() for frame in peers.frames(statements, self._workload.peer_options)]
        received: list[bytes] = []
        Clients(self._opaque, 1).forward(frames, received.append)
        return sum(1 for _ in peers.parse(b"".join(_delimited(frame) for frame in received)))

    def _latency(self) -> Measurement:
        from ..grpc_work import Clients

        frames = _message_frames(self._workload.our_statements(100 * _LATENCIES), self._workload.options)
        times: dict[str, list[float]] = {"ours": [], "peer": []}
        for _ in range(self._settings.repeats):
            for side, address in (("ours", self._ours), ("peer", self._opaque)):
                times[side] += Clients(address, 1).latencies(frames)
        return measurement(LATENCY, DATASET, statistics.median(times["ours"]), statistics.median(times["peer"]))


def _encoded(workload: Workload) -> list[bytes]:
    from jellyframe.stream.encoder import StreamEncoder

    encoder = StreamEncoder(workload.options, frame_rows=peers.FRAME_ROWS)
    frames: list[bytes] = []
    for batch in workload.batches:
        row = 0
        while row < len(batch):
            row = encoder.encode(batch, row)
            frames += encoder.take_frames()
    encoder.finish()
    return frames + encoder.take_frames()


def _delimited(frame: bytes) -> bytes:
    from jellyframe.wire import encode_varint

    return encode_varint(len(frame)) + frame


def _message_frames(statements: list[Any], options: Any) -> list[bytes]:
    """Return a stream with a hundred statements per frame."""
    from jellyframe.stream.encoder import StreamEncoder
    from jellyframe.stream.statements import encode_statements

    encoder = StreamEncoder(options, frame_rows=None, frame_bytes=None)
    for start in range(0, len(statements), 100):
        for _ in encode_statements(encoder, statements[start : start + 100]):
            pass
        encoder.end_frame()
    return encoder.take_frames()
