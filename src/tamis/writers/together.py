"""All the drafts of a brief, wherever they come from: those that writers wrote before and the ledger has, the owner's
files, and those that are still to be written.

A draft that was written lies in `drafts/` too, for the owner to see; that file is the same draft and no second one.
What she changed in it is a draft of her own.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import msgspec

from tamis.brief import DRAFTS_FOLDER, LoadedBrief
from tamis.clock import Spans
from tamis.errors import DraftsError
from tamis.ledger import Ledger
from tamis.records import Draft, Spec, digest
from tamis.writers.base import Resuming, Writer, Written, flaw
from tamis.writers.files import FilesWriter

FILES = "files"
UNWHOLE = {"length": ".cut", "refused": ".refused"}
"""What is put behind the name of a file that holds no whole draft, so that nobody takes it for one."""


class Together:
    """`writer` writes what is missing, where there is one, and what it writes is laid out as files too."""

    def __init__(self, brief: LoadedBrief, writer: Writer | None = None) -> None:
        self._brief = brief
        self._files = FilesWriter(brief)
        self._writer = writer
        self._ledger: Ledger | None = None

    def keep_in(self, ledger: Ledger, spans: Spans) -> None:
        self._ledger = ledger
        if isinstance(self._writer, Resuming):
            self._writer.keep_in(ledger, spans)

    @property
    def spec(self) -> Spec:
        """The files' own: what others wrote says so itself."""
        return self._files.spec

    async def write(self, brief: LoadedBrief) -> AsyncGenerator[Written, None]:
        """Raises DraftsError where there is none, and none can be had."""
        written = self._written_before()
        # one that goes on hands over what it wrote before by itself
        again = self._writer.spec.name if isinstance(self._writer, Resuming) else None
        for draft in written:
            if draft.writer.name != again:
                yield self._handed_over(draft)
        async with aclosing(self._owner_s(brief, written)) as files:
            async for one in files:
                yield one
        if self._writer is not None:
            async with aclosing(self._new(brief, self._writer, written)) as new:
                async for one in new:
                    yield one

    def _written_before(self) -> list[Draft]:
        if self._ledger is None:
            return []
        about = self._brief.brief.id
        return [draft for draft in self._ledger.all(Draft, about=about) if draft.writer.name != FILES]

    def _handed_over(self, draft: Draft) -> Written:
        assert self._ledger is not None
        content = self._ledger.blob(draft.blob)
        refused = "was refused by its writer" if draft.finish == "refused" else None
        return Written(
            name=draft.name,
            content=content,
            sample=draft.sample,
            finish=draft.finish,
            tokens=draft.tokens,
            counted_by=draft.counted_by,
            problem=refused or flaw(content),
            writer=draft.writer,
        )

    async def _owner_s(self, brief: LoadedBrief, written: list[Draft]) -> AsyncGenerator[Written, None]:
        """The files that are no copy of what a writer wrote."""
        may_lack = brief.settings.drafts.from_ is None and (written or self._writer is not None)
        if may_lack and not brief.drafts_from:
            return
        copies, names = {draft.blob for draft in written}, {draft.name for draft in written}
        try:
            async with closing(self._files.write(brief)) as files:
                async for one in files:
                    if digest(one.content) in copies and one.problem is None:
                        continue
                    yield msgspec.structs.replace(one, name=f"changed-{one.name}") if one.name in names else one
        except DraftsError:
            if not may_lack:
                raise

    async def _new(self, brief: LoadedBrief, writer: Writer, written: list[Draft]) -> AsyncGenerator[Written, None]:
        known = {(draft.writer.name, draft.name, draft.sample, draft.blob) for draft in written}
        resuming = isinstance(writer, Resuming)
        async with closing(writer.write(brief)) as drafts:
            async for one in drafts:
                spec = one.writer or writer.spec
                if (spec.name, one.name, one.sample, digest(one.content)) not in known:
                    lay_out(brief.folder, one)
                elif not resuming:
                    continue  # it was handed over from the ledger
                yield msgspec.structs.replace(one, writer=spec)


@asynccontextmanager
async def closing(drafts: AsyncIterator[Written]) -> AsyncIterator[AsyncIterator[Written]]:
    """The drafts of a writer, closed at the end of the context: one that is left early ends what it has begun now, and
    not when it is collected."""
    try:
        yield drafts
    finally:
        if isinstance(drafts, AsyncGenerator):
            await drafts.aclose()


def lay_out(folder: Path, written: Written) -> Path | None:
    """Writes the draft into the brief's drafts/ and returns the file; None where there is nothing to write, or a file
    of that name holds something else, which is never overwritten."""
    if not written.content:
        return None
    path = folder / DRAFTS_FOLDER / _file_name(written)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(written.content)
    except FileExistsError:
        return path if path.is_file() and path.read_bytes() == written.content else None
    except OSError as error:
        raise DraftsError(f"{path} can't be written: {error.strerror or error}") from error
    return path


def _file_name(written: Written) -> str:
    plain = written.name.replace("/", "-").replace(":", "-").replace("\0", "")
    broken = ".unusable" if written.problem is not None and written.finish == "stop" else ""
    return plain + UNWHOLE.get(written.finish, broken)
