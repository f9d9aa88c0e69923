"""`jellyframe completion`: scripts with which shells complete the command line, made from its parsers."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from jellyframe.cli.arguments import CommandParser, add_command, boolean

SHELLS = ("bash", "zsh", "fish")
_EXAMPLES = """
eval "$(jellyframe completion bash)"                                        # in ~/.bashrc
jellyframe completion zsh > ~/.zfunc/_jellyframe                            # in a folder of $fpath
jellyframe completion fish > ~/.config/fish/completions/jellyframe.fish
"""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "completion",
        run,
        help="print a script that completes commands and options in a shell",
        examples=_EXAMPLES,
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(arguments: argparse.Namespace) -> int:
    import sys

    from jellyframe.cli.commands import build_parser

    script = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}[arguments.shell]
    sys.stdout.write(script(list(completions(build_parser()))))
    return 0


class Option(NamedTuple):
    """An option: its names, its help, and what may follow it (None if nothing does)."""

    names: tuple[str, ...]
    help: str
    values: tuple[str, ...] | None
    is_path: bool


class Command(NamedTuple):
    """A command, or a group of them: its words, and what may come behind them."""

    words: tuple[str, ...]
    options: list[Option]
    subcommands: dict[str, str]
    positionals: tuple[str, ...]
    takes_files: bool


def completions(parser: CommandParser, words: tuple[str, ...] = ()) -> Iterator[Command]:
    """All commands below a parser, itself first."""
    options: list[Option] = []
    subcommands: dict[str, str] = {}
    positionals: tuple[str, ...] = ()
    takes_files = False
    below: dict[str, Any] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            below = dict(action.choices)
            subcommands = {choice.dest: choice.help or "" for choice in action._choices_actions}
        elif action.option_strings:
            options.append(_option(action, parser))
        else:
            positionals = tuple(action.choices or ())
            takes_files = takes_files or action in parser.path_actions
    yield Command(words, options, subcommands, positionals, takes_files)
    for name, other in below.items():
        yield from completions(other, (*words, name))


def _option(action: argparse.Action, parser: CommandParser) -> Option:
    values: tuple[str, ...] | None = parser.suggestions.get(action, ()) if action.nargs is None else None
    if action.choices is not None:
        values = tuple(map(str, action.choices))
    elif action.type is boolean:
        # These stand alone as well, so what follows is no value.
        values = None
    text = (action.help or "").replace("%%", "%")
    return Option(tuple(action.option_strings), text, values, action in parser.path_actions)


def _candidates(command: Command) -> str:
    names = [name for option in command.options for name in option.names]
    return " ".join([*command.subcommands, *command.positionals, *names])


def _value_cases(commands: list[Command], files: str, words: str) -> Iterator[str]:
    """Cases of a shell's `case`, on the command and the option that the value is for."""
    for command in commands:
        for option in command.options:
            if option.values is None:
                continue
            pattern = "|".join(shlex.quote(f"{' '.join(command.words)}:{name}") for name in option.names)
            done = files if option.is_path else words.format(shlex.quote(" ".join(option.values)))
            yield f"    {pattern}) {done}; return;;"


def _path_cases(commands: list[Command]) -> str:
    return "|".join(shlex.quote(" ".join(command.words)) for command in commands if command.words)


_BASH = """\
# Completion of jellyframe for bash.
_jellyframe() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} typed= word
  COMPREPLY=()
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "${{typed:+$typed }}$word" in
      {paths}) typed="${{typed:+$typed }}$word";;
    esac
  done
  case "$typed:$previous" in
{values}
  esac
  case "$typed" in
{commands}
  esac
}}
complete -o filenames -F _jellyframe jellyframe
"""


def bash_script(commands: list[Command]) -> str:
    files = 'mapfile -t COMPREPLY < <(compgen -f -- "$current")'
    words = 'mapfile -t COMPREPLY < <(compgen -W {} -- "$current")'
    lines = []
    for command in commands:
        done = words.format(shlex.quote(_candidates(command)))
        if command.takes_files:
            done += f"; [[ $current == -* ]] || {files}"
        lines.append(f"    {shlex.quote(' '.join(command.words))}) {done};;")
    return _BASH.format(
        paths=_path_cases(commands), values="\n".join(_value_cases(commands, files, words)), commands="\n".join(lines)
    )


_ZSH = """\
#compdef jellyframe
# Completion of jellyframe for zsh.
_jellyframe() {{
  local previous=${{words[CURRENT-1]}} typed= word
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "${{typed:+$typed }}$word" in
      {paths}) typed="${{typed:+$typed }}$word";;
    esac
  done
  case "$typed:$previous" in
{values}
  esac
  case "$typed" in
{commands}
  esac
}}
if [ "$funcstack[1]" = "_jellyframe" ]; then _jellyframe "$@"; else compdef _jellyframe jellyframe; fi
"""


def zsh_script(commands: list[Command]) -> str:
    words = "compadd -- ${{(s: :)${{:-{}}}}}"
    lines = []
    for command in commands:
        done = words.format(shlex.quote(_candidates(command)))
        if command.takes_files:
            done = f"if [[ $PREFIX == -* ]]; then {done}; else _files; fi"
        lines.append(f"    {shlex.quote(' '.join(command.words))}) {done};;")
    return _ZSH.format(
        paths=_path_cases(commands),
        values="\n".join(_value_cases(commands, "_files", words)),
        commands="\n".join(lines),
    )


def fish_script(commands: list[Command]) -> str:
    lines = ["# Completion of jellyframe for fish.", "complete -c jellyframe -f"]
    for command in commands:
        condition = _fish_condition(command)
        for name, text in command.subcommands.items():
            lines.append(f"complete -c jellyframe -n {condition} -a {name} -d {shlex.quote(text)}")
        for word in command.positionals:
            lines.append(f"complete -c jellyframe -n {condition} -a {word}")
        if command.takes_files:
            lines.append(f"complete -c jellyframe -n {condition} -F")
        lines += [_fish_option(condition, option) for option in command.options]
    return "\n".join(lines) + "\n"


def _fish_condition(command: Command) -> str:
    """True where the words of the command have been typed, and those of no command below it."""
    tests = [f"__fish_seen_subcommand_from {word}" for word in command.words]
    if command.subcommands:
        tests.append(f"not __fish_seen_subcommand_from {' '.join(command.subcommands)}")
    return shlex.quote("; and ".join(tests))


def _fish_option(condition: str, option: Option) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    line = f"complete -c jellyframe -n {condition} {names} -d {shlex.quote(option.help)}"
    if option.values is None:
        return line
    values = f" -a {shlex.quote(' '.join(option.values))}" if option.values else ""
    return f"{line} -r{' -F' if option.is_path else values}"
