"""`tamis draft`: lets a writer write what is missing, and no more. Every draft lands in the ledger as it comes, and as
a file in the brief's drafts/."""

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from tamis.brief import DRAFTS_FOLDER, LoadedBrief, load_brief
from tamis.cli import show
from tamis.cli.options import DeskName, Folder, Json
from tamis.cli.writing import Count, Seen, WriterName, account_of, lines_of, overruled, watched, writer_of
from tamis.errors import BriefError, UsageError
from tamis.ledger import Ledger
from tamis.reading import Pool, Reading
from tamis.records import Draft
from tamis.run import Run
from tamis.views import to_json
from tamis.writers.base import Resuming, Writer
from tamis.writers.together import closing, lay_out

ApiName = Literal["auto", "chat", "completions", "messages"]

ALL_THERE, SOME_MISSING = 0, 3


def draft_command(
    folder: Folder,
    *,
    n: Count = None,
    writer: WriterName = None,
    url: Annotated[str | None, typer.Option(help="the server's address")] = None,
    api: Annotated[ApiName | None, typer.Option(help="what the server speaks")] = None,
    model: Annotated[str | None, typer.Option(help="the model")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="the most tokens of one draft")] = None,
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="how freely it draws")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="draft i is asked for with seed + i")] = None,
    key_from: Annotated[str | None, typer.Option(help="NAME of the environment variable with the key")] = None,
    streams: Annotated[int | None, typer.Option(min=1, help="at most so many requests at once")] = None,
    budget_tokens: Annotated[int | None, typer.Option(min=1, help="tokens, in and out, over all runs")] = None,
    budget_money: Annotated[float | None, typer.Option(min=0, help="money, at the prices in tamis.toml")] = None,
    budget_seconds: Annotated[float | None, typer.Option(min=0, help="seconds of writing, over all runs")] = None,
    desk: DeskName = None,
    json: Json = None,
) -> None:
    """Let a writer write the drafts that are missing. A flag goes before [writer] in tamis.toml."""
    loaded = overruled(
        load_brief(folder, desk=desk),
        n=n, url=url, api=api, model=model, max_tokens=max_tokens, temperature=temperature, seed=seed,
        key_from=key_from, streams=streams, budget_tokens=budget_tokens, budget_money=budget_money,
        budget_seconds=budget_seconds,
    )  # fmt: skip
    _refuse_unknown_desk(loaded, desk)
    made = writer_of(loaded, writer)
    if made is None:
        raise UsageError(
            "no writer is named",
            hint="--writer server --url http://127.0.0.1:8000, --writer embedded, or [writer] in tamis.toml",
        )
    with Ledger(loaded.folder) as ledger:
        seen = asyncio.run(_written(Run(loaded, ledger), made))
    told = account_of(loaded, made, seen, loaded.folder / DRAFTS_FOLDER)
    if json is not None:
        show.json_to(json, to_json(told))
    if json != "-":
        for line in lines_of(told):
            show.line(line)
    raise typer.Exit(SOME_MISSING if told.stopped or told.not_written or not told.whole else ALL_THERE)


async def _written(run: Run, writer: Writer) -> Seen:
    """Takes everything that the writer hands over."""
    known = {draft.id for draft in run.ledger.all(Draft, about=run.loaded.brief.id)}
    if isinstance(writer, Resuming):
        writer.keep_in(run.ledger, run.spans)
    pool = Pool(run.ledger)
    seen = Seen()
    with run.spans.span("whole", "draft") as span:
        reading = Reading(run, pool, writer.spec, span=span.id)
        async with watched(writer, seen, run.loaded.settings.writer.n), closing(writer.write(run.loaded)) as drafts:
            async for written in drafts:
                one = msgspec.structs.replace(written, writer=written.writer or writer.spec)
                before = len(pool.drafts)
                reading.take(one)
                if len(pool.drafts) == before:
                    continue  # the same draft twice
                draft = pool.drafts[-1]
                new = draft.id not in known
                if new:
                    _lay_out(run.loaded.folder, one.name, lay_out(run.loaded.folder, one), empty=not one.content)
                seen.add(draft, usable=draft.id not in pool.unusable, new=new)
    return seen


def _lay_out(folder: Path, name: str, file: Path | None, *, empty: bool) -> None:
    if file is None and not empty:
        show.say(f"note: {folder / DRAFTS_FOLDER / name} holds something else and stays; the draft is in the ledger")


def _refuse_unknown_desk(loaded: LoadedBrief, desk: str | None) -> None:
    """Nothing is paid for drafts of a kind that was only guessed at."""
    said = desk or loaded.settings.brief.desk
    if said is None and loaded.interface is None and loaded.tests is None and not loaded.drafts_from:
        raise BriefError(
            f"{loaded.folder} doesn't say what its drafts are",
            hint='[brief] desk = "software", "prose" or "lab" in tamis.toml, or --desk',
        )
