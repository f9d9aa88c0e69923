"""Parse sizes and times. `65536`, `64k`, `64kB` and `64KiB` are the same everywhere, as in Spark.

Times are seconds, or numbers with a unit: `90`, `90s`, `15min`, `12h`, `7d`.
"""

from __future__ import annotations

import re

_SIZE = re.compile(r"([0-9]+)\s*([kmgt]?)(i?b)?", re.IGNORECASE)
_SHIFTS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_DURATION = re.compile(r"([0-9]{1,12})\s*(s|min|m|h|d)?", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
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


def parse_duration(text: str) -> int:
    """Return the seconds that a time such as `90`, `90s`, `15min`, `12h` or `7d` stands for.

    Raises ValueError for anything else.
    """
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise ValueError("it must be a whole number, which may end in s, min, h or d, such as 90, 15min or 7d")
    return int(found[1]) * _SECONDS[(found[2] or "").lower()]
