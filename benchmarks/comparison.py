"""Convert the outcomes of a contest to measurements."""

from collections.abc import Iterator, Mapping

from .registry import Measurement, Row, Settings
from .timing import Contestant, Outcome, rates

_PEER = "the peer"


def against_peer(
    settings: Settings,
    dataset: str,
    peer: Contestant,
    ours: Mapping[Row, Contestant],
    wanted: frozenset[str],
) -> Iterator[Measurement]:
    """Measure those of our contestants that are wanted, in turns with one peer."""
    chosen = {row: contestant for row, contestant in ours.items() if row.name in wanted}
    outcomes = rates(
        {_PEER: peer, **{row.name: contestant for row, contestant in chosen.items()}},
        settings.repeats,
        collect_garbage=settings.collect_garbage,
    )
    for row in chosen:
        yield measurement(row, dataset, outcomes[row.name], outcomes[_PEER])


def measurement(row: Row, dataset: str, ours: Outcome, peer: Outcome) -> Measurement:
    errors = [
        f"{side}: {type(outcome).__name__}: {outcome}"
        for side, outcome in (("ours", ours), ("peer", peer))
        if isinstance(outcome, Exception)
    ]
    return Measurement(
        row,
        dataset,
        None if isinstance(ours, Exception) else ours,
        None if isinstance(peer, Exception) else peer,
        "; ".join(errors) or None,
    )
