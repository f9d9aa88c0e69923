"""Results as text for other programs."""

from __future__ import annotations

import json


def json_document(value: object) -> str:
    """Return a value as an indented JSON document that ends with a line end."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
