"""The parser of the command line, and arguments that several commands share."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from jellyframe.cli.console import Console, print_text
from jellyframe.defaults import DIALECT_NAMES, HTTP_ADDRESS, LAYOUT_NAMES
from jellyframe.errors import clipped, shortened
from jellyframe.formats import Format, names

if TYPE_CHECKING:
    from jellyframe.options import Limits

STANDARD_STREAM = "-"
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal. argparse makes a formatter for each argument, and each asks for that width."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_terminal_width() - 2)


@cache
def _terminal_width() -> int:
    """Return what `shutil.get_terminal_size` does. Its import alone would take a tenth of the time that help takes."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 80


class CommandParser(argparse.ArgumentParser):
    """An argument parser in which options are spelled out, and boolean ones read `--x`, `--x=false` or `--x false`."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", _HelpFormatter)
        super().__init__(allow_abbrev=False, **settings)
        self._switches: set[str] = set()
        # What shells complete: which arguments are files, and values that are usual where others are allowed too.
        self.path_actions: list[argparse.Action] = []
        self.suggestions: dict[argparse.Action, tuple[str, ...]] = {}
        self._many_inputs = False

    def add_switch(self, *names: str, default: bool | None = None, help: str, **settings: Any) -> None:  # noqa: A002
        """Add a boolean option."""
        self.add_argument(*names, type=boolean, default=default, metavar="true|false", help=help, **settings)
        self._switches.update(names)

    def add_named(self, *names: str, values: tuple[str, ...], **settings: Any) -> None:
        """Add an option whose value has one of some names, among others for the same that need no mention."""
        self.suggestions[self.add_argument(*names, **settings)] = values

    def add_path(self, *names: str, **settings: Any) -> None:
        """Add an argument that is the name of a file, which shells can complete."""
        self.path_actions.append(self.add_argument(*names, **settings))

    def add_inputs(self, help: str) -> None:  # noqa: A002
        """Add any number of input files, which may stand anywhere among the options."""
        self.add_path("inputs", nargs="*", metavar="IN", help=help)
        self._many_inputs = True

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:  # type: ignore[override]
        if args is not None and self._switches:
            args = list(self._with_values(args))
        parsed, left = super().parse_known_args(args, namespace)
        if self._many_inputs and not any(word.startswith("-") and word != STANDARD_STREAM for word in left):
            parsed.inputs = [*parsed.inputs, *left]
            left = []
        if left and self._subparsers is None:
            # The error is that of the command: the help of the whole program does not have its options.
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return parsed, left

    def _with_values(self, words: Sequence[str]) -> Iterator[str]:
        """Yield words with the value of each switch joined to it: argparse would take any word that follows for it."""
        waiting: str | None = None
        for word in words:
            if waiting is not None:
                is_value = word in ("true", "false")
                yield f"{waiting}={word if is_value else 'true'}"
                waiting = None
                if is_value:
                    continue
            if word in self._switches:
                waiting = word
            else:
                yield word
        if waiting is not None:
            yield f"{waiting}=true"

    def error(self, message: str) -> NoReturn:
        Console().error(f"{clipped(message)} (see `{self.prog} --help`)")
        self.exit(2)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help and versions to standard output. Unlike argparse, raise if that fails."""
        if message:
            print_text(message)


def add_command(
    subparsers: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    help: str,  # noqa: A002
    description: str | None = None,
    examples: str,
) -> CommandParser:
    """Add a command. `run` gets its arguments, `arguments.console` among them; its help shows `examples`."""
    lines = "\n".join(f"  {line}" for line in examples.strip().splitlines())
    parser: CommandParser = subparsers.add_parser(
        name, help=help, description=description or f"{help[0].upper()}{help[1:]}.", epilog=f"examples:\n{lines}\n"
    )
    parser.set_defaults(run=run)
    shared = parser.add_argument_group("messages")
    shared.add_argument("--quiet", "-q", action="store_true", help="no progress bar and no notes")
    shared.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def add_input(parser: CommandParser, help: str = "the input file; standard input if none or `-`") -> None:  # noqa: A002
    """Add the one input file, as `arguments.input`: a path, or None for standard input."""
    parser.add_path("input", nargs="?", metavar="IN", type=path_or_standard, help=help)


def add_output(parser: CommandParser, *, binary: bool = True) -> None:
    """Add the output file, as `arguments.to`: a path, or None for standard output."""
    parser.add_path(
        "--to",
        "--output-file",
        metavar="FILE",
        type=output_path,
        help="the output file, replaced whole or not at all; standard output if not given or `-`",
    )
    if binary:
        parser.add_argument("--force", action="store_true", help="write binary data even to a terminal")


def add_format(parser: CommandParser, *option: str, known: tuple[Format, ...]) -> None:
    """Add the option for a format."""
    parser.add_named(*option, metavar="FORMAT", values=tuple(one.name for one in known), help=f"one of {names(known)}")


def add_limits(parser: CommandParser) -> None:
    """Add the option that raises a limit for input that is trusted; `limits_of` reads it."""
    parser.add_argument(
        "--limit",
        metavar="NAME=SIZE",
        type=limit,
        action="append",
        default=[],
        help="raise or lower a limit for untrusted input, such as max_frame_bytes=1GiB; may be given several times",
    )


def add_listen(parser: CommandParser) -> None:
    """Add the address that a server listens on, as `arguments.listen`."""
    parser.add_argument(
        "--listen",
        metavar="HOST:PORT",
        default=HTTP_ADDRESS,
        help=f"the address to listen on, by default {HTTP_ADDRESS}, which only this machine can reach; port 0: any",
    )


def add_dialect(
    parser: CommandParser,
    help: str,  # noqa: A002
    *,
    option: str = "--dialect",
    default: str | None,
    **settings: Any,
) -> None:
    """Add the option that chooses between the released format and its draft."""
    parser.add_argument(option, choices=DIALECT_NAMES, default=default, help=help, **settings)


def add_layout(parser: CommandParser, help: str) -> None:  # noqa: A002
    """Add the option for the columns of tables."""
    parser.add_argument("--layout", choices=LAYOUT_NAMES, help=help)


def limits_of(arguments: argparse.Namespace) -> Limits:
    from jellyframe.options import Limits

    return Limits(**dict(arguments.limit))


# ---- types of values ----


def path_or_standard(text: str) -> str | None:
    """Return a path, or None for `-`."""
    return None if text == STANDARD_STREAM else text


def output_path(text: str) -> str | None:
    """Return a path, or None for `-` and for paths of standard output, such as /dev/stdout."""
    from jellyframe.storage.sinks import descriptor_of

    if not text:
        raise argparse.ArgumentTypeError("the name of the output is empty")
    return None if text == STANDARD_STREAM or descriptor_of(text) == 1 else text


def second_output(text: str) -> str:
    """Return the path of an output beside the one of `--to`: `-` for standard output, whatever its path."""
    return output_path(text) or STANDARD_STREAM


def boolean(text: str) -> bool:
    word = text.lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise argparse.ArgumentTypeError(f"{shortened(text)} is neither true nor false")


def key_and_value(text: str) -> tuple[str, str]:
    """Return the parts of KEY=VALUE."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"{shortened(text)} is not of the form KEY=VALUE")
    return key, value


def number_from_zero(text: str, what: str, most: float = sys.float_info.max) -> float:
    """Return a number from 0 to `most`. `what` it is to be is said in the error."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= most:
        raise argparse.ArgumentTypeError(f"{shortened(text)} is not {what}")
    return number


def positive(text: str) -> int:
    """Return a whole number of at least 1."""
    number = natural(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{shortened(text)} must be at least 1")
    return number


def natural(text: str) -> int:
    """Return a whole number of at least 0."""
    # Python refuses to read numbers of thousands of digits.
    if not text.isascii() or not text.isdigit() or len(text) > 1000:
        raise argparse.ArgumentTypeError(f"{shortened(text)} is not a whole number")
    return int(text)


def size(text: str) -> int:
    """Return a number of bytes such as 500000, 64k or 8MiB; units are powers of 1024."""
    from jellyframe.sizes import parse_size

    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{shortened(text)}: {error}") from None


def size_or_off(text: str) -> int | None:
    """Return a number of bytes, or None for `off`."""
    return None if text.strip().lower() == "off" else size(text)


def limit(text: str) -> tuple[str, int]:
    """Return the name of a limit and its value."""
    from dataclasses import fields

    from jellyframe.options import Limits

    name, _, value = text.partition("=")
    name = name.strip().replace("-", "_")
    known = [field.name for field in fields(Limits)]
    if name not in known:
        raise argparse.ArgumentTypeError(f"there is no limit {shortened(name)}; there are {', '.join(known)}")
    return name, size(value)
