"""Advice in errors that a server sends to clients, which cannot change its limits."""

from __future__ import annotations

from jellyframe.errors import Advice


def words_for_clients(advice: Advice) -> str:
    """Return an advice in the words of the server's settings, where it is about a limit."""
    if advice.kind == "limit":
        return f"limits.{advice.name} in the settings of the server may allow more"
    return str(advice)
