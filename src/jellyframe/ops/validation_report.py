"""What a validation found, as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, NamedTuple

from jellyframe.errors import JellyError, OptionsError, one_line

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.options import StreamOptions

# More problems of a kind that can occur in every statement are counted only.
MAX_TERM_PROBLEMS = 20


class Problem(NamedTuple):
    """What is wrong, and where, as far as that is known; `check` is the kind of rule that is broken."""

    check: str
    message: str
    frame: int | None = None
    row: int | None = None
    offset: int | None = None

    def as_text(self) -> str:
        place = JellyError("", frame=self.frame, row=self.row, offset=self.offset).place()
        return f"{place}: {self.message}" if place else self.message


class Report:
    """Problems, and how much was looked at. `is_whole` once the stream was read to its end."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._problems: list[Problem] = []
        self._term_problems = 0
        self._frames = 0
        self._statements = 0
        self.delimited: bool | None = None
        self.options: StreamOptions | None = None
        self.is_whole = False

    @property
    def is_valid(self) -> bool:
        return not self._problems

    def add(self, check: str, message: str) -> None:
        self._problems.append(Problem(check, message))

    def add_all(self, check: str, messages: Iterable[str]) -> None:
        self._problems += [Problem(check, message) for message in messages]

    def add_error(self, error: JellyError) -> None:
        check = "options" if isinstance(error, OptionsError) else "stream"
        self._problems.append(Problem(check, error.message, error.frame, error.row, error.offset))

    def count(self, batch: Batch) -> None:
        self._statements += len(batch)
        self._frames += sum(span.is_complete for span in batch.frame_spans())

    def check_options(self, expected: StreamOptions, source: str) -> None:
        for field in fields(expected):
            wanted, found = getattr(expected, field.name), getattr(self.options, field.name)
            if wanted != found:
                shown = [getattr(value, "name", value) for value in (found, wanted)]
                self.add("options", f"the option {field.name} is {shown[0]!r}, and {shown[1]!r} in {source}")

    def check_terms(self, batch: Batch) -> None:
        from jellyframe.batch.validation import bad_terms, first_row_with

        for bad in bad_terms(batch):
            self._term_problems += 1
            if self._term_problems > MAX_TERM_PROBLEMS:
                continue
            row = first_row_with(batch, bad.term)
            frame, place = None, ""
            if row is not None:
                frame = next(span.number for span in batch.frame_spans() if span.start <= row < span.stop)
                place = f"statement {self._statements - len(batch) + row + 1}: "
            self._problems.append(Problem("terms", f"{place}{bad.reason}", frame))

    def as_text(self) -> str:
        read = f"{_counted(self._frames, 'frame')}, {_counted(self._statements, 'statement')}"
        if self.is_valid:
            return f"{self._name}: valid ({read})\n"
        lines = [f"{self._name}: invalid ({read}{'' if self.is_whole else ' read before the error'})"]
        lines += [f"  {problem.as_text()}" for problem in self._problems]
        if self._term_problems > MAX_TERM_PROBLEMS:
            lines.append(f"  {self._term_problems - MAX_TERM_PROBLEMS} more terms are not valid")
        return "".join(f"{one_line(line)}\n" for line in lines)

    def as_json(self) -> str:
        document = {
            "valid": self.is_valid,
            "input": self._name,
            "delimited": self.delimited,
            "frame_count": self._frames,
            "statement_count": self._statements,
            "read_to_the_end": self.is_whole,
            "bad_term_count": self._term_problems,
            "problems": [
                {name: value for name, value in problem._asdict().items() if value is not None}
                for problem in self._problems
            ],
        }
        return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
