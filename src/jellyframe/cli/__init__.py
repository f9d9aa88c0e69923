"""The command `jellyframe`.

A command is a module in this package, listed in `commands.py`, with two functions:

- `add_parser(subparsers)` describes its options, with `arguments.add_command(…)`. It also runs for help and
  completion, so the module imports nothing at its top but `argparse` and light modules: `arguments`, `console`,
  `jellyframe.defaults`, `jellyframe.formats`.
- `run(arguments) -> int` does the work and returns the exit code: 0, or 1 where the data is invalid, different or
  incomplete. It imports what it needs. An error is an exception: `console.UsageError` for what the user asked for,
  `JellyError` for data, `OSError` for files; `main` turns them into one line on standard error and exit code 2.

Data goes to standard output, in bytes, and everything else to standard error, by way of `arguments.console`.
"""
