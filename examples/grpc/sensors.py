"""Sensors that publish to a server, and a monitor that subscribes: two threads, one server, no other program.

python -m examples.grpc.sensors [--statements N]
"""

from __future__ import annotations

import argparse
import asyncio
import threading
from collections import Counter
from collections.abc import Iterator

from jellyframe import IRI, Literal, Triple
from jellyframe.grpc import Server, aio, connect

SENSOR = "http://example.org/sensor/"
RESULT = IRI("http://www.w3.org/ns/sosa/hasSimpleResult")
DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"
TOPIC = "temperatures"


def measurements(count: int) -> Iterator[Triple]:
    """Yield what five sensors measure in turns."""
    for number in range(count):
        value = Literal(f"{20 + number % 7}.5", datatype=DECIMAL)
        yield Triple(IRI(f"{SENSOR}{number % 5}"), RESULT, value)


def publish(address: str, count: int) -> None:
    """Publish measurements, from a thread of a program without asyncio."""
    with connect(address) as client, client.publisher(TOPIC, frame_rows=50) as publisher:
        publisher.write(measurements(count))


async def monitor(address: str, count: int) -> Counter[str]:
    """Return how many measurements came from each sensor."""
    seen: Counter[str] = Counter()
    async with aio.connect(address) as client, client.subscribe(TOPIC, from_="earliest") as subscription:
        async for statement in subscription:
            assert isinstance(statement.s, IRI)
            seen[statement.s.value.removeprefix(SENSOR)] += 1
            if seen.total() == count:
                break
    return seen


async def main() -> None:
    """Run a server, the sensors and the monitor."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--statements", type=int, default=10_000)
    count: int = parser.parse_args().statements
    async with Server(topics={TOPIC: "replay"}) as server:
        sensors = threading.Thread(target=publish, args=(server.address, count))
        sensors.start()
        seen = await monitor(server.address, count)
        await asyncio.to_thread(sensors.join)
    for sensor, number in sorted(seen.items()):
        print(f"sensor {sensor}: {number} measurements")


if __name__ == "__main__":
    asyncio.run(main())
