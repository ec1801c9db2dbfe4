"""Check `parses`: is the draft whole, and is it what its kind must be before anything can be made of it?

Code must be accepted by a parser: Python's own for Python, told by compiling it as an import would, tree-sitter's
grammars for other languages, by the file's suffix. A record of the lab that begins like JSON must be a JSON object.
For prose there is nothing to parse. No draft that its writer cut off or refused passes, whatever can be made of what
there is. Nothing of a draft is run here, and nothing here can be made to hang or crash by one.
"""

import platform
import re
from collections.abc import Iterable, Iterator

import msgspec

from tamis.brief import LoadedBrief
from tamis.checks.base import Found
from tamis.checks.codes import Codes
from tamis.checks.parser_pool import Job, Parsed, ParserPool
from tamis.records import Answer, Broke, Desk, Draft, Held, NoAnswer, Spec
from tamis.writers.base import flaw

LANGUAGES = {
    ".py": "python",
    ".pyi": "python",
    ".c": "c",
    ".h": "c",
    ".go": "go",
    ".java": "java",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascript",
    ".rs": "rust",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
}


class Parses:
    """The check for one desk. `pool` is used where given and left open, else one is opened for each look. `codes` takes
    the code of what Python accepts, compiled for the check already, for the box that will run it. Where the owner has
    named a command that makes a program of a draft (`by_command`), a language that no parser is known for is
    that command's matter."""

    def __init__(
        self, desk: Desk, *, pool: ParserPool | None = None, by_command: bool = False, codes: Codes | None = None
    ) -> None:
        self._desk = desk
        self._pool = pool
        self._codes = codes
        self._by_command = by_command

    @property
    def spec(self) -> Spec:
        version = ".".join(platform.python_version_tuple()[:2])  # the grammar is that of the Python that runs us
        command = {"command": True} if self._by_command else {}
        return Spec(kind="check", name="parses", version="2", args={"desk": self._desk, "python": version, **command})

    def look(self, drafts: Iterable[tuple[Draft, bytes]]) -> Iterator[Found]:
        if self._desk != "software":
            yield from (Found(draft=draft.id, answer=_text(draft, content)) for draft, content in drafts)
        elif self._pool is not None:
            yield from map(self._or_command, _code(drafts, self._pool, self._codes))
        else:
            with ParserPool() as pool:
                yield from map(self._or_command, _code(drafts, pool, self._codes))

    def _or_command(self, found: Found) -> Found:
        match found.answer:
            case NoAnswer(fault="check") if self._by_command:
                return Found(draft=found.draft, answer=Held(), how={"parser": "none: the command tells"})
            case _:
                return found


def parses_of(brief: LoadedBrief) -> Parses:
    """The check for a brief's desk."""
    return Parses(brief.brief.desk, by_command=bool(brief.settings.draft.command))


def language_of(name: str) -> str | None:
    """The language that a draft's name says it is in, "python" where the name has no suffix, None where it has one
    that no grammar is known for."""
    suffix = re.search(r"\.[A-Za-z]\w*$", name)
    return LANGUAGES.get(suffix[0].lower()) if suffix else "python"


def _code(drafts: Iterable[tuple[Draft, bytes]], pool: ParserPool, codes: Codes | None) -> Iterator[Found]:
    file = codes.file if codes else ""
    items = (((draft, content), _job(draft, content, file)) for draft, content in drafts)
    for (draft, content), parsed in pool.parse(items):
        if parsed is not None and codes is not None:
            codes.put(draft.id, parsed.marshalled)
        if parsed is None:
            yield Found(draft=draft.id, answer=_cut(draft) or _unknown(draft))
        else:
            python = language_of(draft.name) == "python"
            parser = f"Python {platform.python_version()}" if python else "tree-sitter"
            shape = {"shape": parsed.shape} if parsed.shape else {}
            yield Found(draft=draft.id, answer=_judged(parsed, content), how={"parser": parser, **shape})


def _job(draft: Draft, content: bytes, file: str) -> Job | None:
    """What to ask the parser, None where the answer does not depend on it."""
    language = language_of(draft.name)
    return Job(language=language, content=content, file=file) if language and draft.finish == "stop" else None


def _judged(parsed: Parsed, content: bytes) -> Answer:
    if parsed.lost is not None:
        return NoAnswer(fault="sandbox", why=parsed.lost)
    if parsed.missing is not None:
        why = f"no grammar for {parsed.missing} is installed: pip install 'tamis[languages]'"
        return NoAnswer(fault="check", why=why)
    if parsed.problem is not None:
        return Broke(witness=_witness(parsed, content))
    return Held()


def _witness(parsed: Parsed, content: bytes) -> str:
    """The problem and where it is, with the line itself and a mark below the column."""
    if not parsed.line or parsed.line < 1:  # of the file as a whole, for instance its encoding
        return parsed.problem or ""
    column = max(1, parsed.column or 1)
    told = f"line {parsed.line}, column {column}: {parsed.problem}"
    lines = content.split(b"\n", parsed.line)
    if parsed.line > len(lines):
        return told
    line = lines[parsed.line - 1].decode("utf-8", "replace").rstrip()
    start = max(0, column - 60)
    shown = line[start : start + 100].replace("\t", " ")
    return f"{told}\n    {shown}\n    {' ' * (column - 1 - start)}^"


def _text(draft: Draft, content: bytes) -> Answer:
    problem = flaw(content)
    if problem is not None:
        return Broke(witness=problem)
    return _cut(draft) or (_json(content) if _is_record(draft, content) else Held())


def _is_record(draft: Draft, content: bytes) -> bool:
    return draft.name.lower().endswith(".json") or content.lstrip().startswith(b"{")


def _json(content: bytes) -> Answer:
    try:
        record = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError) as error:
        return Broke(witness=f"is not JSON: {error}")
    return (
        Held() if isinstance(record, dict) else Broke(witness=f"is JSON, but a {type(record).__name__} and no object")
    )


def _cut(draft: Draft) -> Broke | None:
    match draft.finish:
        case "length":
            return Broke(witness="is cut off: its writer reached the most tokens it may write")
        case "refused":
            return Broke(witness="was refused by its writer")
        case _:
            return None


def _unknown(draft: Draft) -> NoAnswer:
    suffix = draft.name.rpartition(".")[2]
    return NoAnswer(fault="check", why=f"no parser is known for .{suffix} files; known are {', '.join(LANGUAGES)}")
