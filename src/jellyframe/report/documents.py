"""Write small nested documents as YAML or JSON, and long lists in them item by item."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

Document = Mapping[str, Any]

# Keys, and values such as `PHYSICAL_STREAM_TYPE_QUADS (2)`, that are strings in YAML without quotation marks.
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN_VALUE = re.compile(r"[A-Z]+(_[A-Z]+)+ \([0-9]+\)")
# Words that YAML does not read as strings.
_NOT_STRINGS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


class YamlWriter:
    """Writes the members of one mapping."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._is_first = True
        self._items = 0

    def member(self, name: str, value: Any) -> None:
        """Write a whole member. An empty line separates members, for readability."""
        self._separate()
        self._write("".join(_yaml_member(name, value, "")))

    def begin_list(self, name: str) -> None:
        """Begin a member that is a list; its items follow one by one."""
        self._separate()
        self._write(f"{_yaml_key(name)}:\n")
        self._items = 0

    def item(self, value: Document) -> None:
        lines = "".join(line for key, inner in value.items() for line in _yaml_member(key, inner, "    "))
        self._write(f"  - {lines.lstrip()}")
        self._items += 1

    def end_list(self) -> None:
        if self._items == 0:
            self._write("  []\n")

    def end(self) -> None:
        """End the members; YAML needs nothing for that."""

    def _separate(self) -> None:
        if not self._is_first:
            self._write("\n")
        self._is_first = False


class JsonWriter:
    """Writes the members of one object. Each item of a list is on one line."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._opening = "{\n"

    def member(self, name: str, value: Any) -> None:
        text = json.dumps(value, ensure_ascii=False, indent=2).replace("\n", "\n  ")
        self._write(f"{self._opening}  {json.dumps(name)}: {text}")
        self._opening = ",\n"

    def begin_list(self, name: str) -> None:
        self._write(f"{self._opening}  {json.dumps(name)}: [")
        self._opening = "\n"

    def item(self, value: Document) -> None:
        self._write(f"{self._opening}    {json.dumps(value, ensure_ascii=False)}")
        self._opening = ",\n"

    def end_list(self) -> None:
        self._write("]" if self._opening == "\n" else "\n  ]")
        self._opening = ",\n"

    def end(self) -> None:
        self._write("\n}\n" if self._opening != "{\n" else "{}\n")


def _yaml_member(name: str, value: Any, indent: str) -> list[str]:
    if not isinstance(value, Mapping):
        return [f"{indent}{_yaml_key(name)}: {_yaml_scalar(value)}\n"]
    if not value:
        return [f"{indent}{_yaml_key(name)}: {{}}\n"]
    lines = [f"{indent}{_yaml_key(name)}:\n"]
    for key, inner in value.items():
        lines += _yaml_member(key, inner, indent + "  ")
    return lines


def _yaml_key(name: str) -> str:
    if _PLAIN_KEY.fullmatch(name) and name.lower() not in _NOT_STRINGS:
        return name
    return _quoted(name)


def _yaml_scalar(value: str | int | float | bool | None) -> str:
    if isinstance(value, str):
        return value if _PLAIN_VALUE.fullmatch(value) else _quoted(value)
    return json.dumps(value)


def _quoted(text: str) -> str:
    """Return text in double quotes, which YAML requires for escapes; unprintable characters are escaped."""
    letters = []
    for letter in text:
        if letter in '"\\':
            letters.append("\\" + letter)
        elif letter.isprintable():
            letters.append(letter)
        elif ord(letter) < 0x10000:
            letters.append(f"\\u{ord(letter):04X}")
        else:
            letters.append(f"\\U{ord(letter):08X}")
    return '"' + "".join(letters) + '"'
