"""Keep lookup entries in the order of their last use; `recency.pxd` has the same for C."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jellyframe.kernel.lookup_write_cy import LookupWriter


def touch(table: LookupWriter, slot: int, stamp: int) -> int:
    """Make a slot the most recently used, by the statement `stamp`."""
    table.stamps[slot] = stamp
    if table._older[0] != slot:
        older = table._older[slot]
        newer = table._newer[slot]
        table._newer[older] = newer
        table._older[newer] = older
        table.link_newest(slot)
    return 0
