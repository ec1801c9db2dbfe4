"""What commands that write share: which writer, what the command line overrules, how it is watched, and the account of
it at the end."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.progress import BarColumn, Progress, TextColumn

from tamis.brief import LoadedBrief
from tamis.cli import show
from tamis.config import WriterSection
from tamis.errors import UsageError
from tamis.plugins import make_writer
from tamis.records import Draft, Finish, Record
from tamis.writers.base import Writer
from tamis.writers.telling import Telling, WritingNow
from tamis.writers.together import FILES

WriterName = Annotated[
    str | None,
    typer.Option(
        "--writer", metavar="NAME", help="server, embedded, another that `tamis plugins` lists, or file.py:thing"
    ),
]
Count = Annotated[int | None, typer.Option("--n", min=1, help="how many drafts there shall be of this writer")]

LOOK_SECONDS = 0.25


def overruled(loaded: LoadedBrief, **changes: object) -> LoadedBrief:
    """The brief with what the command line says of its writer; None says nothing. Raises UsageError."""
    given = {key: value for key, value in changes.items() if value is not None}
    if not given:
        return loaded
    try:
        writer = msgspec.convert({**msgspec.to_builtins(loaded.settings.writer), **given}, WriterSection)
    except msgspec.ValidationError as error:
        raise UsageError(f"the writer's options: {error}") from error
    settings = msgspec.structs.replace(loaded.settings, writer=writer)
    return msgspec.structs.replace(loaded, settings=settings)


def writer_of(loaded: LoadedBrief, name: str | None) -> Writer | None:
    """The writer by the name on the command line, else by the settings; None where nobody is to write."""
    settings = loaded.settings.writer
    kind = name or settings.kind or ("server" if settings.url is not None else None)
    if kind is None or kind == FILES:
        return None
    return make_writer(kind, loaded, relative_to=Path() if name else loaded.folder)


def how_it_ended(writer: Writer | None) -> Iterator[str]:
    """What the owner should know of a writer that was part of a run: what it did not write, and why."""
    if not isinstance(writer, Telling):
        return
    now = writer.now()
    yield from now.notes
    there = now.before + now.answers
    if there < now.wanted:
        why = now.stopped or next(iter(now.given_up.values()), "it was stopped")
        yield f"{there:,} of {now.wanted:,} drafts were written: {why}"


class WritingAccount(Record, frozen=True, kw_only=True):
    """How a sitting of writing ended; the shape of `--json`. `drafts` are those of this writer and brief that are
    there, `wanted` those that were to be; `finish` counts them by how they ended, `unusable` those that are no draft.
    `perhaps_tokens` were perhaps paid, by requests that broke off, and are part of `paid_tokens_in` and `…_out`, which
    sum over all sittings. `now` are figures of this sitting."""

    tamis: int = 1
    title: str
    writer: str
    wanted: int | None
    drafts: int
    drafts_now: int
    whole: int
    finish: dict[str, int]
    unusable: int
    tokens: int
    seconds: float
    stopped: str | None
    not_written: dict[int, str]
    paid_tokens_in: int | None
    paid_tokens_out: int | None
    perhaps_tokens: int | None
    requests_now: int | None
    estimated: int | None
    money: float | None
    folder: str


class Seen:
    """Counts drafts as they come."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.drafts = self.now = self.whole = self.unusable = self.tokens = self.tokens_now = 0
        self.finish: Counter[Finish] = Counter()

    def add(self, draft: Draft, *, usable: bool, new: bool) -> None:
        self.drafts += 1
        self.now += new
        self.whole += usable and draft.finish == "stop"
        self.unusable += not usable
        self.tokens += draft.tokens or 0
        self.tokens_now += (draft.tokens or 0) * new
        self.finish[draft.finish] += 1

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began


@contextlib.asynccontextmanager
async def watched(writer: Writer, seen: Seen, wanted: int) -> AsyncIterator[None]:
    """A bar on the terminal as long as the writer writes; nothing elsewhere."""
    if not show.talk.is_terminal:
        yield
        return
    columns = (TextColumn("writing"), BarColumn(), TextColumn("{task.completed:,.0f} of {task.total:,.0f}"))
    with Progress(*columns, TextColumn("{task.fields[told]}"), console=show.talk, transient=True) as bar:
        task = bar.add_task("writing", total=wanted, told="")

        async def look() -> None:
            while True:
                bar.update(task, completed=seen.drafts, told=told_now(writer, seen))
                await asyncio.sleep(LOOK_SECONDS)

        looking = asyncio.create_task(look())
        try:
            yield
        finally:
            looking.cancel()


def told_now(writer: Writer, seen: Seen) -> str:
    """The line beside the bar: how fast, what is spent, how many streams are out."""
    seconds = max(seen.seconds, 1e-9)
    if not isinstance(writer, Telling):
        return f"{seen.now / seconds:,.3g} drafts/s, {seen.tokens_now / seconds:,.0f} tokens/s"
    now = writer.now()
    parts = [
        f"{now.answers / seconds:,.3g} drafts/s",
        f"{(now.tokens_out + now.pieces) / seconds:,.0f} tokens/s",
        f"{now.streams} of {now.streams_limit} streams",
        f"spent {_amount(now)}",
    ]
    return ", ".join(parts + ([f"{now.failures} failures, the last: {now.last_failure}"] if now.last_failure else []))


def _amount(now: WritingNow) -> str:
    tokens = f"{now.paid.tokens_in + now.paid.tokens_out:,} tokens"
    return tokens if now.money is None else f"{tokens}, {now.money:,.4f} in money"


def account_of(loaded: LoadedBrief, writer: Writer, seen: Seen, folder: Path) -> WritingAccount:
    now = writer.now() if isinstance(writer, Telling) else None
    args = writer.spec.args
    named = " ".join(str(args[key]) for key in ("model", "url") if key in args)
    return WritingAccount(
        title=loaded.brief.title,
        writer=f"{writer.spec.name} {named}".strip(),
        wanted=now.wanted if now else None,
        drafts=seen.drafts,
        drafts_now=seen.now,
        whole=seen.whole,
        finish={how: count for how, count in seen.finish.items()},
        unusable=seen.unusable,
        tokens=seen.tokens,
        seconds=seen.seconds,
        stopped=now.stopped if now else None,
        not_written=dict(now.given_up) if now else {},
        paid_tokens_in=now.paid.tokens_in if now else None,
        paid_tokens_out=now.paid.tokens_out if now else None,
        perhaps_tokens=now.paid.perhaps_in + now.paid.perhaps_out if now else None,
        requests_now=now.requests if now else None,
        estimated=now.estimated if now else None,
        money=now.money if now else None,
        folder=str(folder),
    )


def lines_of(told: WritingAccount) -> Iterator[str]:
    """The account in words."""
    of = "" if told.wanted is None else f" of {told.wanted:,}"
    yield f"{told.title} · {told.drafts:,}{of} drafts by {told.writer}"
    rate = f", {told.drafts_now / told.seconds:,.3g} drafts/s" if told.drafts_now and told.seconds > 0 else ""
    yield _row("written now", f"{told.drafts_now:,}", f"in {told.seconds:,.2f} s{rate}")
    yield _row("whole", f"{told.whole:,}", _not_whole(told))
    if told.stopped is not None:
        yield _row("stopped", "", told.stopped)
    for number, why in list(told.not_written.items())[:3]:
        yield _row("not written", f"no. {number}", why)
    if len(told.not_written) > 3:
        yield _row("", "", f"and {len(told.not_written) - 3:,} more")
    if told.paid_tokens_in is not None and told.paid_tokens_out is not None:
        yield from _paid(told, told.paid_tokens_in, told.paid_tokens_out)
    yield _row("files", "", told.folder)


def _paid(told: WritingAccount, tokens_in: int, tokens_out: int) -> Iterator[str]:
    yield _row(
        "paid", f"{tokens_in + tokens_out:,}", f"tokens: {tokens_in:,} read, {tokens_out:,} written, in all runs"
    )
    if told.perhaps_tokens:
        yield _row("", f"{told.perhaps_tokens:,}", "of them perhaps: nobody knows what requests that broke off cost")
    if told.estimated:
        yield _row("", f"{told.estimated:,}", "answers came without usage: estimated here, and paid at most as counted")
    if told.money is not None:
        yield _row("money", f"{told.money:,.4f}", "at most, at the prices in [writer]")


def _not_whole(told: WritingAccount) -> str:
    cut, refused = told.finish.get("length", 0), told.finish.get("refused", 0)
    parts = [f"{cut:,} cut off at max_tokens"] * bool(cut) + [f"{refused:,} refused"] * bool(refused)
    other = told.drafts - told.whole - cut - refused
    return ", ".join(parts + [f"{other:,} no draft at all"] * (other > 0))


def _row(name: str, figure: str, note: str) -> str:
    return f"  {name:<14}{figure:<9} {note}".rstrip()
