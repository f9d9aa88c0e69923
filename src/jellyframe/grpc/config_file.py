"""The settings of a server in a TOML file. All mistakes in it are reported together, with their lines."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from jellyframe.errors import OptionsError, SettingError, display_name, shortened
from jellyframe.grpc.config import ServerLimits, ServerSettings, TopicSettings
from jellyframe.grpc.security import TlsSettings, Token
from jellyframe.sizes import parse_duration, parse_size

_T = TypeVar("_T")
# Where a value is: the keys that lead to it, and numbers in arrays of tables.
_Place: TypeAlias = tuple[str | int, ...]
_SIZES = ("max_bytes", "segment_bytes", "queue_bytes", "max_frame_bytes", "max_topic_bytes")
_DURATIONS = ("max_age", "segment_age", "keepalive", "keepalive_timeout", "drain")


class ConfigError(OptionsError):
    """A file of settings that cannot be used.

    `problems` has a line of text for each mistake, which begins with the file and the line in it.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def read_config(path: str | PathLike[str]) -> ServerSettings:
    """Return the settings of a TOML file. Paths in it are relative to its folder.

    Args:
        path: the file

    Raises ConfigError with all mistakes if a setting is unknown or invalid.
    """
    return read_changed_config(path, {})


def read_changed_config(path: str | PathLike[str], changes: Mapping[str, Any]) -> ServerSettings:
    """Return the settings of a TOML file, of which `changes` override some by name; topics are added.

    Only the result has to be valid: the file alone may be one that needs the changes. Raises SettingError if the value
    of a change is not valid, and ConfigError as `read_config` does.
    """
    file = Path(path)
    name = display_name(path)
    try:
        text = file.read_bytes().decode()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError([f"{name}, line {line}: not TOML: it is not UTF-8"]) from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([f"{name}: not TOML: {error}"]) from None
    reader = _Reader(file.absolute().parent, changes)
    settings = reader.settings(table)
    if settings is None or reader.problems:
        places = [place for place, _message in reader.problems]
        lines = _lines_of(text, places)
        found = sorted(zip(lines, (message for _place, message in reader.problems), strict=True))
        raise ConfigError([f"{name}, line {line}: {message}" for line, message in found])
    return settings


class _Reader:
    """Builds settings from tables, and collects their errors.

    Args:
        folder: the folder that paths are relative to
        changes: settings that override those of the file
    """

    def __init__(self, folder: Path, changes: Mapping[str, Any]) -> None:
        self._folder = folder
        self._changes = changes
        self.problems: list[tuple[_Place, str]] = []

    def settings(self, table: dict[str, Any]) -> ServerSettings | None:
        """Return the settings of a file; None if they cannot be built."""
        values = dict(table)
        parts: dict[str, Callable[[_Place, Any], Any]] = {
            "topics": self._topics,
            "default_topic": self._topic,
            "limits": self._limits,
            "tls": self._tls,
            "tokens": self._tokens,
        }
        for key, make in parts.items():
            if key in values:
                made = make((key,), values.pop(key))
                if made is not None:
                    values[key] = made
        topics = {**values.get("topics", {}), **self._changes.get("topics", {})}
        return self._build(ServerSettings, (), {**values, **self._changes, "topics": topics})

    def _topics(self, place: _Place, value: Any) -> dict[str, TopicSettings | None]:
        table = self._table(place, value) or {}
        return {name: self._topic((*place, name), one) for name, one in table.items()}

    def _topic(self, place: _Place, value: Any) -> TopicSettings | None:
        if isinstance(value, str):
            try:
                settings = TopicSettings.parse(value)
            except OptionsError as error:
                self._problem(place, f"{_name(place)}: {error.message}")
                return None
            return self._topic(place, {"retention": settings.retention, "path": settings.path})
        table = self._table(place, value)
        if table is None:
            return None
        if table.get("retention") != "kafka":
            table = self._with_paths(table, ("path",))
        return self._build(TopicSettings, place, table)

    def _limits(self, place: _Place, value: Any) -> ServerLimits | None:
        table = self._table(place, value)
        return None if table is None else self._build(ServerLimits, place, table)

    def _tls(self, place: _Place, value: Any) -> TlsSettings:
        table = self._table(place, value)
        made = None if table is None else self._build(TlsSettings, place, self._with_paths(table, table))
        # After a mistake in the TLS settings, do not also report that there is no TLS.
        return made or TlsSettings("", "")

    def _tokens(self, place: _Place, value: Any) -> tuple[Token | None, ...] | None:
        if not isinstance(value, list):
            self._problem(place, "tokens must be tables, each as [[tokens]]")
            return None
        return tuple(self._token((*place, number), one) for number, one in enumerate(value))

    def _token(self, place: _Place, value: Any) -> Token | None:
        table = self._table(place, value)
        if table is None:
            return None
        lists = {key: tuple(one) if isinstance(one, list) else one for key, one in table.items()}
        return self._build(Token, place, lists)

    # ---- values ----

    def _problem(self, place: _Place, message: str) -> None:
        self.problems.append((place, message))

    def _table(self, place: _Place, value: Any) -> dict[str, Any] | None:
        if isinstance(value, dict):
            return value
        self._problem(place, f"{_name(place)} must be a table")
        return None

    def _with_paths(self, table: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
        """Return a table with paths that do not depend on the working directory."""
        paths = {key: str(self._folder / table[key]) for key in keys if isinstance(table.get(key), str)}
        return {**table, **paths}

    def _build(self, kind: type[_T], place: _Place, table: dict[str, Any]) -> _T | None:
        """Return a settings object from a table, whose keys and types are checked; None if it cannot be built."""
        known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
        values = {}
        for key, value in table.items():
            where = (*place, key)
            if key not in known:
                self._problem(where, f"there is no setting {_name(where)}; there are {', '.join(known)}")
                continue
            try:
                values[key] = _value(_name(where), key, value, str(known[key].type))
            except OptionsError as error:
                self._problem(where, error.message)
        required = [name for name, one in known.items() if one.default is MISSING and one.default_factory is MISSING]
        if missing := [name for name in required if name not in table]:
            self._problem(place, f"{_name(place)} lacks {', '.join(missing)}")
        while all(name in values for name in required):
            try:
                return kind(**values)
            except SettingError as error:
                if not place and error.setting in self._changes:
                    raise
                where = (*place, error.setting) if error.setting in table else place
                prefix = "" if not place else f"{_name(place)}: "
                self._problem(where, f"{prefix}{error.message}")
                if values.pop(error.setting, None) is None:
                    break
            except OptionsError as error:
                self._problem(place, f"{_name(place)}: {error.message}")
                break
        return None


def _name(place: _Place) -> str:
    """Return the name of a place for messages."""
    return ".".join(str(part) for part in place if isinstance(part, str))


def _value(where: str, key: str, value: Any, kind: str) -> Any:
    try:
        if isinstance(value, str) and key in _SIZES:
            value = parse_size(value)
        elif isinstance(value, str) and key in _DURATIONS:
            value = parse_duration(value)
    except ValueError as error:
        raise OptionsError(f"{where} is {shortened(str(value))}: {error}") from None
    if kind.startswith("int"):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise OptionsError(f"{where} is {shortened(str(value))}, and must be a whole number")
    elif kind == "bool" and not isinstance(value, bool):
        raise OptionsError(f"{where} is {shortened(str(value))}, and must be true or false")
    elif kind.startswith("str") and not isinstance(value, str) and value is not None:
        raise OptionsError(f"{where} is {shortened(str(value))}, and must be a string")
    elif kind.startswith("tuple[str") and not (isinstance(value, tuple) and all(isinstance(v, str) for v in value)):
        raise OptionsError(f"{where} must be a list of strings")
    return value


def _lines_of(text: str, places: list[_Place]) -> list[int]:
    """Return the lines of a TOML text that define values, or the longest defined prefixes of their places."""
    lines = text.split("\n")
    wanted = {place[:length] for place in places for length in range(1, len(place) + 1)}
    found: dict[_Place, int] = {(): 1}
    for end in range(1, len(lines) + 1):
        try:
            table = tomllib.loads("\n".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            # The line ends inside a value.
            continue
        found.update((place, end) for place in wanted - found.keys() if _has(table, place))
        if wanted <= found.keys():
            break
    return [max(found.get(place[:length], 1) for length in range(len(place) + 1)) for place in places]


def _has(table: Any, place: _Place) -> bool:
    for part in place:
        try:
            table = table[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True
