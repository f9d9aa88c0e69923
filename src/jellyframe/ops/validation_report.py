"""The result of a validation, also as text or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, NamedTuple

from jellyframe.errors import Advice, JellyError, OptionsError, one_line
from jellyframe.ops.documents import json_document

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.options import StreamOptions
    from jellyframe.patch.options import PatchOptions

# Further problems of a kind that can occur in every statement are only counted.
MAX_TERM_PROBLEMS = 20


class Problem(NamedTuple):
    """A problem and, if known, its position. `check` is the kind of rule that is broken, `advice` what to do."""

    check: str
    message: str
    frame: int | None = None
    row: int | None = None
    offset: int | None = None
    advice: Advice | None = None

    def described(self, wording: Callable[[Advice], str] = str) -> str:
        """Return the message and the advice, the advice in the words of a user interface."""
        return JellyError(self.message, advice=self.advice).reason(wording)

    def as_text(self, wording: Callable[[Advice], str] = str) -> str:
        """Return the position, the message and the advice."""
        place = JellyError("", frame=self.frame, row=self.row, offset=self.offset).place()
        return f"{place}: {self.described(wording)}" if place else self.described(wording)


class ValidationReport:
    """The problems of a stream, and how much of it was read. `is_complete` once it was read to its end.

    `problems` lists at most 20 invalid terms; `bad_terms` is the number of all. `delimited` is whether the
    frames are delimited, and `options` are those of the (first) stream, if they could be read.

    Args:
        name: the name of the stream
    """

    # The name of a row of a batch.
    unit = "statement"

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.bad_terms = 0
        self.frames = 0
        self.statements = 0
        self.delimited: bool | None = None
        self.options: StreamOptions | PatchOptions | None = None
        self.is_complete = False

    @property
    def is_valid(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    def add(self, check: str, message: str) -> None:
        """Add a problem: the kind of rule (`check`) that is broken, and a `message`."""
        self.problems.append(Problem(check, message))

    def add_all(self, check: str, messages: Iterable[str]) -> None:
        """Add a problem with each of `messages`, all of the same kind (`check`)."""
        self.problems += [Problem(check, message) for message in messages]

    def add_error(self, error: JellyError) -> None:
        """Add an `error` as a problem, with its position."""
        check = "options" if isinstance(error, OptionsError) else "stream"
        self.problems.append(Problem(check, error.message, error.frame, error.row, error.offset, error.advice))

    def count(self, batch: Batch) -> None:
        """Count the frames and statements of the next `batch`."""
        self.statements += len(batch)
        ends = 1 if batch.frame_ends is None else len(batch.frame_ends)
        self.frames += ends - batch.last_frame_open

    def check_options(self, expected: StreamOptions | PatchOptions, source: str) -> None:
        """Add a problem for each option that differs from those `expected`, which are those of a `source`."""
        for field in fields(expected):
            wanted, found = getattr(expected, field.name), getattr(self.options, field.name)
            if wanted != found:
                shown = [getattr(value, "name", value) for value in (found, wanted)]
                self.add("options", f"the option {field.name} is {shown[0]!r}, and {shown[1]!r} in {source}")

    def check_terms(self, batch: Batch) -> None:
        """Add a problem for each term of a `batch` that is not valid, up to 20 of them."""
        from jellyframe.batch.validation import bad_terms, first_row_with

        for bad in bad_terms(batch):
            self.bad_terms += 1
            if self.bad_terms > MAX_TERM_PROBLEMS:
                continue
            row = first_row_with(batch, bad.term)
            frame, place = None, ""
            if row is not None:
                frame = next(span.number for span in batch.frame_spans() if span.start <= row < span.stop)
                place = f"{self.unit} {self.statements - len(batch) + row + 1}: "
            self.problems.append(Problem("terms", f"{place}{bad.reason}", frame))

    def as_text(self, wording: Callable[[Advice], str] = str) -> str:
        """Return the report as lines of text. `wording` turns advice into the words of a user interface."""
        read = ", ".join(_counted(number, what) for what, number in self._counts().items())
        if self.is_valid:
            return f"{self.name}: valid ({read})\n"
        lines = [f"{self.name}: invalid ({read}{'' if self.is_complete else ' read before the error'})"]
        lines += [f"  {problem.as_text(wording)}" for problem in self.problems]
        lines += [f"  {more}" for more in self._more_problems()]
        return "".join(f"{one_line(line)}\n" for line in lines)

    def _counts(self) -> dict[str, int]:
        """Return the numbers of units read, by their names."""
        return {"frame": self.frames, "statement": self.statements}

    def _more_problems(self) -> list[str]:
        """Return a message about the problems that are only counted."""
        more = self.bad_terms - MAX_TERM_PROBLEMS
        return [f"{more} more terms are not valid"] if more > 0 else []

    def as_json(self, wording: Callable[[Advice], str] = str) -> str:
        """Return the report as a JSON document. `wording` turns advice into the words of a user interface."""
        document = {
            "valid": self.is_valid,
            "input": self.name,
            "delimited": self.delimited,
            **{f"{what}_count": number for what, number in self._counts().items()},
            "read_to_the_end": self.is_complete,
            "bad_term_count": self.bad_terms,
            "problems": [_problem_document(problem, wording) for problem in self.problems],
        }
        return json_document(document)


def _problem_document(problem: Problem, wording: Callable[[Advice], str]) -> dict[str, str | int]:
    places = {"frame": problem.frame, "row": problem.row, "offset": problem.offset}
    known = {name: number for name, number in places.items() if number is not None}
    return {"check": problem.check, "message": problem.described(wording), **known}


def _counted(number: int, what: str) -> str:
    plural = "es" if what.endswith("h") else "s"
    return f"{number} {what}{'' if number == 1 else plural}"
