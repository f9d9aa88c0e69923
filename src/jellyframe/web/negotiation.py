"""What a client wants, of what there is: `Accept` and `Accept-Encoding`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jellyframe.formats import Format
from jellyframe.storage.types import Compression

# A media type or a coding, and how much it is wanted.
_ITEM = re.compile(r"\s*([^\s;,]+)\s*((?:;[^,]*)?)")
_QUALITY = re.compile(r";\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*(?:;|$)", re.IGNORECASE)


def wishes(header: str) -> dict[str, float]:
    """Return what a header asks for, in lower case, and how much it is wanted, from 0 (not at all) to 1."""
    found: dict[str, float] = {}
    for part in header.split(",")[:100]:
        item = _ITEM.match(part)
        if item is not None:
            quality = _QUALITY.search(item[2])
            found[item[1].lower()] = min(float(quality[1]), 1.0) if quality else 1.0
    return found


def quality_of(media_type: str, wanted: dict[str, float]) -> float:
    """Return how much a media type is wanted: the most specific wish counts."""
    for key in (media_type, f"{media_type.partition('/')[0]}/*", "*/*"):
        if key in wanted:
            return wanted[key]
    return 0.0


def choose_format(accept: str | None, known: Sequence[Format]) -> Format | None:
    """Return the format that is wanted most, of equals the first; None if none of them is wanted."""
    wanted = wishes(accept) if accept else {"*/*": 1.0}
    ratings = [max(quality_of(media_type, wanted) for media_type in found.media_types) for found in known]
    best = max(ratings, default=0.0)
    return known[ratings.index(best)] if best > 0 else None


def wants_page(accept: str | None) -> bool:
    """Return whether a person asks, by a browser: then a page is wanted by name."""
    return accept is not None and wishes(accept).get("text/html", 0.0) > 0


def choose_encoding(accept_encoding: str | None, known: Sequence[Compression]) -> Compression | None:
    """Return the compression for the way that is wanted most, of equals the first; None for none.

    Data is sent as it is where a client wants that at least as much.
    """
    wanted = wishes(accept_encoding) if accept_encoding else {}
    ratings = [wanted.get(coding, wanted.get("*", 0.0)) for coding in known]
    best = max(ratings, default=0.0)
    return known[ratings.index(best)] if best > wanted.get("identity", 0.0) else None
