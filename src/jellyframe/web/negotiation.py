"""Content negotiation: `Accept` and `Accept-Encoding`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jellyframe.formats import Format
from jellyframe.storage.types import Compression

# A media type or a coding, and its quality value.
_ITEM = re.compile(r"\s*([^\s;,]+)\s*((?:;[^,]*)?)")
_QUALITY = re.compile(r";\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*(?:;|$)", re.IGNORECASE)


def quality_values(header: str) -> dict[str, float]:
    """Return the values of a header in lower case, each with its quality value: from 0 (refused) to 1."""
    found: dict[str, float] = {}
    for part in header.split(",")[:100]:
        item = _ITEM.match(part)
        if item is not None:
            quality = _QUALITY.search(item[2])
            found[item[1].lower()] = min(float(quality[1]), 1.0) if quality else 1.0
    return found


def quality_of(media_type: str, wanted: dict[str, float]) -> float:
    """Return the quality value of a media type: that of the most specific range that matches."""
    for key in (media_type, f"{media_type.partition('/')[0]}/*", "*/*"):
        if key in wanted:
            return wanted[key]
    return 0.0


def choose_format(accept: str | None, known: Sequence[Format]) -> Format | None:
    """Return the format with the highest quality value, the first of equals; None if none is accepted."""
    wanted = quality_values(accept) if accept else {"*/*": 1.0}
    ratings = [max(quality_of(media_type, wanted) for media_type in found.media_types) for found in known]
    best = max(ratings, default=0.0)
    return known[ratings.index(best)] if best > 0 else None


def wants_page(accept: str | None) -> bool:
    """Return whether the request comes from a browser, which names HTML."""
    return accept is not None and quality_values(accept).get("text/html", 0.0) > 0


def choose_encoding(accept_encoding: str | None, known: Sequence[Compression]) -> Compression | None:
    """Return the content coding with the highest quality value, the first of equals; None for no compression.

    Data is sent uncompressed if the client prefers that or has no preference.
    """
    wanted = quality_values(accept_encoding) if accept_encoding else {}
    ratings = [wanted.get(coding, wanted.get("*", 0.0)) for coding in known]
    best = max(ratings, default=0.0)
    return known[ratings.index(best)] if best > wanted.get("identity", 0.0) else None
