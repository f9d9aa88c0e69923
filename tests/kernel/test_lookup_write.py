"""Which entry of a full lookup table is evicted, on the pure kernel; `test_twins` compares the compiled one."""

from support.kernel_twins import load_twin_module

SIZE = 32


def full_table():
    """A table whose slots 1 to 32 were used by the statements 10, 20, … 320."""
    table = load_twin_module("pure", "kernel.lookup_write_cy").LookupWriter(SIZE)
    for number in range(1, SIZE + 1):
        assert put(table, f"name {number}", 10 * number) == number
    return table


def put(table, name: str, stamp: int) -> int:
    data = memoryview(name.encode())
    slot = table.insert(data, 0, len(data), hash(name) & 0x7FFFFFFF, stamp)
    table.slots.last_id = slot
    return slot


def touch(table, slot: int, stamp: int) -> None:
    load_twin_module("pure", "kernel.recency").touch(table, slot, stamp)


def test_the_least_recently_used_slot_is_evicted() -> None:
    table = full_table()
    touch(table, 1, 1000)
    assert [put(table, f"new {number}", 1000 + number) for number in range(1, 4)] == [2, 3, 4]


def test_the_next_slot_is_evicted_if_it_is_almost_as_old_as_the_oldest() -> None:
    table = full_table()
    # Now 6 is the oldest, and 5 as good as that.
    for slot in (1, 2, 3, 4):
        touch(table, slot, 1000)
    touch(table, 5, 60 + SIZE // 16)
    table.slots.last_id = 4
    assert put(table, "new", 1001) == 5


def test_the_next_slot_is_kept_if_it_is_clearly_newer() -> None:
    table = full_table()
    for slot in (1, 2, 3, 4):
        touch(table, slot, 1000)
    touch(table, 5, 60 + SIZE // 16 + 1)
    table.slots.last_id = 4
    assert put(table, "new", 1001) == 6


def test_entries_of_the_current_statement_are_never_evicted() -> None:
    table = load_twin_module("pure", "kernel.lookup_write_cy").LookupWriter(SIZE)
    for number in range(1, SIZE + 1):
        put(table, f"name {number}", 1)
    table.slots.last_id = 4
    touch(table, 5, 2)
    assert put(table, "new", 2) == 1
    for slot in range(2, SIZE + 1):
        touch(table, slot, 2)
    assert put(table, "one more", 2) == 0
