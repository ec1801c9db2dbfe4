"""Columns set by hand, for tables that must stay whole where the output is no terminal and has no width."""

from collections.abc import Sequence

from tamis.cli import show


def aligned(rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), indent: int = 2) -> None:
    """A line for each row; the columns numbered in `right` are set to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        show.line((" " * indent + "   ".join(cells)).rstrip())
