"""The commands by name, and the one place where an error becomes a message and an exit code.

Exit codes: 0 chosen (or done), 3 none chosen or questions still open, 1 could not, 2 wrong usage, 130 stopped by the
user.
"""

import os
import sys
from collections.abc import Iterable
from importlib import import_module

import typer

from tamis.cli import show
from tamis.errors import TamisError

COMMANDS = {
    "demo": "demo:demo_command",
    "new": "new:new_command",
    "draft": "draft:draft_command",
    "run": "run:run_command",
    "check": "check:check_command",
    "show": "show_draft:show_command",
    "measure": "measure:measure_command",
    "time": "time:time_command",
    "plan": "plan:plan_command",
    "simulate": "simulate:simulate_command",
    "speed": "speed:speed_command",
    "embedded": "embedded:embedded_command",
    "doctor": "doctor:doctor_command",
    "plugins": "plugins:plugins_command",
}
"""Each command's file and function. A command loads its own file only: the models of one desk need not be imported to
run another."""

# Typer carries its own Click in some versions and uses the installed one in others; this is its base error in both
_UsageProblem: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException" and issubclass(kind, Exception)
)


def app(commands: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command line with these commands."""
    made = typer.Typer(
        name="tamis",
        help="A sieve for drafts: evidence on any number of them, one choice with honest odds (or none), "
        "and where the time went.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    made.callback()(_tamis)
    for command in commands:
        module, function = COMMANDS[command].split(":")
        made.command(command)(getattr(import_module(f"tamis.cli.{module}"), function))
    return made


def _tamis() -> None:
    """A sieve for drafts: evidence on any number of them, one choice with honest odds (or none), and where the time
    went."""


STOPPED = 130
"""The exit code of what Ctrl-C ended."""


def main() -> None:
    sys.exit(_exit_code(sys.argv[1:]))


def _exit_code(arguments: list[str]) -> int:
    try:
        named = arguments[:1] if arguments[:1] and arguments[0] in COMMANDS else COMMANDS
        # not standalone, because then Click would answer Ctrl-C with "Aborted." and its own exit code
        ended = typer.main.get_command(app(named)).main(arguments, prog_name="tamis", standalone_mode=False)
        if ended == STOPPED:  # typer's own answer to Ctrl-C
            raise KeyboardInterrupt
        return ended if isinstance(ended, int) else 0
    except TamisError as error:
        show.error(error)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        show.say("stopped; everything recorded is kept, and the same command goes on from there")
        return STOPPED
    except _UsageProblem as error:
        error.show()  # type: ignore[attr-defined]  # for the type checker it is any exception
        return 2
    except BrokenPipeError:
        # whoever read our output has seen enough; stdout must not complain again when the interpreter closes it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
