"""Resolve relative IRIs by RFC 3986, section 5.2."""

from __future__ import annotations

import re

_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.\-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


def resolve_iri(base: str, reference: str) -> str:
    """Return the IRI of a reference, resolved against the base IRI."""
    scheme, authority, path, query, fragment = _parts(reference)
    base_scheme, base_authority, base_path, base_query, _ = _parts(base)
    if scheme is not None:
        return _joined(scheme, authority, _without_dots(path), query, fragment)
    if authority is None:
        authority = base_authority
        if not path:
            path = base_path
            query = base_query if query is None else query
        elif path.startswith("/"):
            path = _without_dots(path)
        else:
            path = _without_dots(_merged(base_authority, base_path, path))
    else:
        path = _without_dots(path)
    return _joined(base_scheme, authority, path, query, fragment)


def _parts(iri: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    found = _PARTS.fullmatch(iri)
    assert found is not None
    scheme, authority, path, query, fragment = found.groups()
    return scheme, authority, path or "", query, fragment


def _merged(base_authority: str | None, base_path: str, path: str) -> str:
    if base_authority is not None and not base_path:
        return "/" + path
    return base_path[: base_path.rfind("/") + 1] + path


def _without_dots(path: str) -> str:
    if "." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")
    for number, segment in enumerate(segments):
        is_last = number == len(segments) - 1
        if segment == ".." and len(kept) > (1 if path.startswith("/") else 0):
            kept.pop()
        elif segment not in (".", ".."):
            kept.append(segment)
        if is_last and segment in (".", ".."):
            kept.append("")
    return "/".join(kept)


def _joined(scheme: str | None, authority: str | None, path: str, query: str | None, fragment: str | None) -> str:
    return "".join(
        (
            "" if scheme is None else f"{scheme}:",
            "" if authority is None else f"//{authority}",
            path,
            "" if query is None else f"?{query}",
            "" if fragment is None else f"#{fragment}",
        )
    )
