"""Rates of several contestants, measured in turns, so that a slow moment of the machine affects all of them."""

import gc
import itertools
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any


@dataclass(frozen=True)
class Contestant:
    """A piece of work: `run` returns how many items it handled, which must be `expected`.

    The result of `prepare`, which is not timed, is passed to every run. The rate is in `amount` per second,
    which is `expected` unless something else is counted, such as bytes.
    """

    run: Callable[..., int]
    expected: int
    amount: float | None = None
    prepare: Callable[[], Any] | None = None

    def prepared(self) -> "Contestant":
        """Return the contestant with its input prepared."""
        if self.prepare is None:
            return self
        return replace(self, run=partial(self.run, self.prepare()), prepare=None)


Outcome = float | Exception


def count(items: Iterable[object]) -> int:
    """Exhaust an iterator at the least cost, and return its length."""
    counter = itertools.count()
    deque(zip(items, counter, strict=False), maxlen=0)
    return next(counter)


def seconds(contestant: Contestant, *, collect_garbage: bool) -> float:
    """Return the time of one run. Objects that exist beforehand are excluded from garbage collection."""
    gc.collect()
    gc.freeze()
    if not collect_garbage:
        gc.disable()
    try:
        start = time.perf_counter()
        handled = contestant.run()
        elapsed = time.perf_counter() - start
    finally:
        gc.enable()
        gc.unfreeze()
    if handled != contestant.expected:
        raise AssertionError(f"handled {handled:,} instead of {contestant.expected:,}")
    return elapsed


def rates(contestants: Mapping[str, Contestant], repeats: int, *, collect_garbage: bool) -> dict[str, Outcome]:
    """Return the median rate of each; a contestant that fails has its exception instead, and the others continue."""
    ready: dict[str, Contestant] = {}
    times: dict[str, list[float]] = {name: [] for name in contestants}
    outcomes: dict[str, Outcome] = {}
    for name, contestant in contestants.items():
        try:
            ready[name] = contestant.prepared()
        except Exception as error:
            outcomes[name] = error
    for _ in range(repeats):
        for name, contestant in list(ready.items()):
            try:
                times[name].append(seconds(contestant, collect_garbage=collect_garbage))
            except Exception as error:
                outcomes[name] = error
                del ready[name]
    for name, contestant in ready.items():
        outcomes[name] = (contestant.amount or contestant.expected) / statistics.median(times[name])
    return outcomes
