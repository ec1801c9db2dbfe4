"""All printing. Data goes to stdout, talk to stderr; everything makes sense without colour."""

import sys
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress
from rich.table import Table

from tamis.errors import TamisError
from tamis.progress import Progress, Silent

# into a file or a pipe nothing is cut to a width that nobody sees
out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200)
talk = Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """A line for the person, beside the data."""
    talk.print(escape(text))


def line(text: str = "") -> None:
    """A line of data."""
    out.print(escape(text))


def raw(content: bytes) -> None:
    """Bytes to stdout as they are, for programs."""
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def error(problem: TamisError) -> None:
    talk.print(f"[bold red]error:[/] {escape(problem.what)}")
    if problem.hint:
        talk.print(f"[dim]hint:[/] {escape(problem.hint)}")


def table(*columns: str) -> Table:
    """A plain table without frames; a column whose title starts with ">" is set to the right."""
    grid = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), show_edge=False)
    for column in columns:
        grid.add_column(column.lstrip(">"), justify="right" if column.startswith(">") else "left", no_wrap=True)
    return grid


def json_to(where: str, content: bytes) -> None:
    """JSON to a file, or to stdout for "-"."""
    if where == "-":
        raw(content + b"\n")
    else:
        Path(where).write_bytes(content + b"\n")


class Bars:
    """Progress bars on stderr: the stage at work and how far it is."""

    def __init__(self) -> None:
        self._bars = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=talk,
            transient=True,
        )
        self._task: TaskID | None = None
        self._name = ""

    def start(self, name: str, total: int | None = None) -> None:
        self._name = name
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._bars.start()
        self._task = self._bars.add_task(name, total=total)

    def advance(self, done: int = 1) -> None:
        if self._task is None:
            return
        self._bars.advance(self._task, done)
        task = self.task
        if task.total is not None and task.completed > task.total:
            # more is done than was announced, so nobody knows how much is left; `update` takes None for "as it was"
            task.total, task.finished_time = None, None

    @property
    def task(self) -> Task:
        """The stage at work."""
        return next(task for task in self._bars.tasks if task.id == self._task)

    def waiting_for(self, name: str) -> None:
        if self._task is not None:
            task = self.task
            rate = f"{task.speed:,.0f} a second, " if task.speed else ""
            self._bars.update(self._task, description=f"{self._name}: {rate}waiting for {name}")

    def pause(self) -> None:
        self._bars.stop()

    def stop(self) -> None:
        self._bars.stop()


class Watching:
    """Bars where stderr is a terminal, silence elsewhere; gone when the work is done."""

    def __init__(self) -> None:
        self._bars = Bars() if talk.is_terminal else None

    def __enter__(self) -> Progress:
        return self._bars or Silent()

    def __exit__(self, *_: object) -> None:
        if self._bars:
            self._bars.stop()
