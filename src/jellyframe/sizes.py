"""How sizes are written: `65536`, `64k`, `64kB` and `64KiB` are all the same, here and everywhere, as in Spark."""

from __future__ import annotations

import re

_SIZE = re.compile(r"([0-9]+)\s*([kmgt]?)(i?b)?", re.IGNORECASE)
_SHIFTS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
# Whatever has a size fits into 64 bits.
_MAX_SIZE = (1 << 63) - 1


def parse_size(text: str) -> int:
    """Return the number that a size such as `500000`, `64k`, `8MiB` or `1 GB` stands for.

    Units are powers of 1024, whether or not there is an `i` in them; case does not matter. Raises ValueError for
    anything else.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None or ((found[3] or "").lower() == "ib" and not found[2]):
        raise ValueError("it must be a whole number, which may end in k, M, G or T, such as 500000, 64k or 8MiB")
    # Python refuses to read numbers of thousands of digits.
    size = int(found[1]) << _SHIFTS[found[2].lower()] if len(found[1]) <= 19 else _MAX_SIZE + 1
    if size > _MAX_SIZE:
        raise ValueError("it is above the largest size, 8388607T")
    return size
