"""A brief is a folder. BRIEF.md says what is wanted (its first heading is the title, its Python blocks of signatures
are the interface), tamis.toml how to go about it, drafts/ and tests/ hold what their names say; only what a desk can't
do without must be there, so a folder of modules and pytest tests is a brief too.

Reading a brief looks at the folder and at nothing else: no draft is opened and no test is run here. What the folder
lacks is told at once, in a sentence.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path

from tamis.config import Settings, load_settings
from tamis.errors import BriefError
from tamis.interface import imported_modules, read_interface
from tamis.records import Brief, Desk, Record, digest

BRIEF_FILE = "BRIEF.md"
SETTINGS_FILE = "tamis.toml"
DRAFTS_FOLDER = "drafts"
TESTS_FOLDER = "tests"
MAX_GIVEN_BYTES = 50_000_000
"""All the files of a test folder together; they are kept in the ledger."""

CODE_SUFFIXES = (".py", ".c", ".go", ".java", ".js", ".mjs", ".rs", ".ts", ".tsx")
SUFFIXES: Mapping[Desk, tuple[str, ...]] = {
    "software": (*CODE_SUFFIXES, ".patch", ".diff", ".jsonl", ".jsonl.gz", ".parquet"),
    "prose": (".txt", ".md", ".jsonl", ".jsonl.gz", ".parquet"),
    "lab": (".jsonl", ".jsonl.gz", ".csv", ".parquet", ".json", ".txt"),
}
"""What counts as a draft, or as a file of drafts, where only a folder was named."""

MANY_DRAFTS = (".jsonl", ".ndjson", ".jsonl.gz", ".csv", ".parquet")
"""Files that hold many drafts, one a line or a row."""

_NOT_DRAFTS = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py|setup\.py|BRIEF\.md|README.*|NEXT\.md|LICEN[CS]E.*")


class LoadedBrief(Record, frozen=True, kw_only=True):
    """A brief with all that was read from its folder.

    `interface` is Python source, the signatures that the brief gives, None where it gives none. `module` is the name
    that drafts are imported by, empty where they are programs. `tests` is the folder of the given tests and
    `test_files` what is in it, by name relative to it; None and empty where none were given. `blobs` maps the hash of
    every given file to its bytes, `drafts_from` says where the writer `files` looks. `notes` are sentences that the
    owner should see once.
    """

    brief: Brief
    settings: Settings
    folder: Path
    interface: str | None
    module: str
    tests: Path | None
    test_files: Mapping[str, bytes]
    blobs: Mapping[str, bytes]
    drafts_from: tuple[str, ...]
    notes: tuple[str, ...] = ()


def load_brief(folder: Path, *, desk: Desk | None = None) -> LoadedBrief:
    """Reads the brief in `folder`; `desk` overrules its settings. Raises BriefError where there is no brief to be
    read, with what is missing or wrong."""
    _require_folder(folder)
    given = {name: _read(folder / name) for name in (BRIEF_FILE, SETTINGS_FILE) if (folder / name).exists()}
    text = _brief_text(folder, given.get(BRIEF_FILE))
    toml = _decoded(given.get(SETTINGS_FILE, b""), folder / SETTINGS_FILE)
    settings = load_settings(toml, where=str(folder / SETTINGS_FILE))
    desk = desk or settings.brief.desk or _likely_desk(folder)
    sources = _drafts_from(folder, settings, desk)
    if BRIEF_FILE not in given and not _has_drafts(folder, sources, desk):
        raise BriefError(
            f"{folder} is no brief: it has neither a {BRIEF_FILE} nor drafts",
            hint=f"`tamis new {folder}` writes a brief that runs, to start from, into a new or empty folder",
        )
    tests, test_files = _given_tests(folder, settings)
    interface, notes = read_interface(text)
    for name, content in test_files.items():
        given[f"{TESTS_FOLDER}/{name}"] = content
    return LoadedBrief(
        brief=Brief(
            id=digest(desk, text),
            title=_title(text, folder),
            text=text,
            desk=desk,
            given={name: digest(content) for name, content in given.items()},
            settings=toml,
        ),
        settings=settings,
        folder=folder,
        interface=interface,
        module="" if settings.draft.command else settings.brief.module or _module(text, test_files),
        tests=tests,
        test_files=test_files,
        blobs={digest(content): content for content in given.values()},
        drafts_from=sources,
        notes=notes,
    )


def is_draft_name(name: str, desk: Desk) -> bool:
    """Whether a file's name says that it is a draft of that desk, or holds some."""
    return name.lower().endswith(SUFFIXES[desk]) and not name.startswith(".") and not _NOT_DRAFTS.fullmatch(name)


def _require_folder(folder: Path) -> None:
    if not folder.exists():
        raise BriefError(f"there is no folder {folder}", hint=f"`tamis new {folder}` writes a brief there")
    if not folder.is_dir():
        raise BriefError(f"{folder} is a file; a brief is a folder", hint=f"did you mean {folder.parent}?")
    try:
        empty = not any(entry.name != ".tamis" for entry in os.scandir(folder))
    except OSError as error:
        raise BriefError(f"the folder {folder} can't be read: {error.strerror}") from error
    if empty:
        raise BriefError(f"the folder {folder} is empty", hint=f"`tamis new {folder}` writes a brief there")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BriefError(f"{path} can't be read: {error.strerror or error}") from error


def _decoded(content: bytes, path: Path) -> str:
    """The text of a file that its owner wrote, without the byte-order mark some editors put before it."""
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise BriefError(
            f"{path} is not UTF-8: byte {content[error.start]:#04x} at offset {error.start:,}",
            hint="save it again as UTF-8",
        ) from error


def _brief_text(folder: Path, content: bytes | None) -> str:
    """The text of BRIEF.md; where there is none, the folder's name as its heading."""
    if content is None:
        return f"# {folder.resolve().name}\n"
    text = _decoded(content, folder / BRIEF_FILE)
    if not text.strip():
        raise BriefError(
            f"{folder / BRIEF_FILE} is empty", hint="say in it what is wanted, under a heading: # My brief"
        )
    return text


def _title(text: str, folder: Path) -> str:
    """The first heading outside fenced blocks. Raises BriefError where there is none."""
    fenced = False
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if re.match(r" {0,3}(```|~~~)", line):
            fenced = not fenced
        elif not fenced and (heading := re.match(r" {0,3}#{1,6}\s+(.*?)\s*#*\s*$", line)) and heading[1]:
            return heading[1]
        elif not fenced and number and re.fullmatch(r" {0,3}(=+|-{2,})\s*", line) and lines[number - 1].strip():
            return lines[number - 1].strip()
    raise BriefError(
        f"{folder / BRIEF_FILE} has no heading, so the brief has no title",
        hint="begin it with a line such as: # My brief",
    )


def _likely_desk(folder: Path) -> Desk:
    """What lies in the folder: texts only are prose, anything else software."""
    place = folder / DRAFTS_FOLDER if (folder / DRAFTS_FOLDER).is_dir() else folder
    names = [path.name for path in place.iterdir()]
    has_code = any(is_draft_name(name, "software") and name.endswith(CODE_SUFFIXES) for name in names)
    if has_code or (folder / TESTS_FOLDER).is_dir():
        return "software"
    has_texts = any(is_draft_name(name, "prose") and not name.endswith(MANY_DRAFTS) for name in names)
    return "prose" if has_texts else "software"


def _drafts_from(folder: Path, settings: Settings, desk: Desk) -> tuple[str, ...]:
    """Where drafts are: as the settings say, else drafts/, else beside BRIEF.md."""
    match settings.drafts.from_:
        case str(source):
            return (source,)
        case tuple(sources) if sources:
            return sources
        case _:
            pass
    if (folder / DRAFTS_FOLDER).is_dir():
        return (DRAFTS_FOLDER,)
    return tuple(sorted(path.name for path in folder.iterdir() if is_draft_name(path.name, desk)))


def _has_drafts(folder: Path, sources: tuple[str, ...], desk: Desk) -> bool:
    if sources == (DRAFTS_FOLDER,):
        return any(is_draft_name(path.name, desk) for path in (folder / DRAFTS_FOLDER).rglob("*"))
    return bool(sources)


def _given_tests(folder: Path, settings: Settings) -> tuple[Path | None, dict[str, bytes]]:
    """The folder of the given tests and its files by relative name. Raises BriefError where the settings name a
    folder that isn't there."""
    named = settings.tests.folder
    tests = folder / (named or TESTS_FOLDER)
    if named and not tests.is_dir():
        raise BriefError(
            f'{folder / SETTINGS_FILE}: [tests] folder = "{named}": there is no folder {tests}',
            hint="leave the key out when the brief has no tests",
        )
    if tests.is_dir():
        files = {path.relative_to(tests).as_posix(): path for path in sorted(_files_below(tests))}
    else:
        tests = folder
        files = {path.name: path for path in sorted([*folder.glob("test_*.py"), *folder.glob("*_test.py")])}
        if files and (folder / "conftest.py").is_file():
            files["conftest.py"] = folder / "conftest.py"
    total = sum(path.stat().st_size for path in files.values())
    if total > MAX_GIVEN_BYTES:
        raise BriefError(
            f"the test folder {tests} holds {total:,} bytes; at most {MAX_GIVEN_BYTES:,} are kept with a brief",
            hint="move what the tests don't need out of it",
        )
    return (tests, {name: _read(path) for name, path in files.items()}) if files else (None, {})


def _files_below(folder: Path) -> Iterator[Path]:
    """Regular files, without what pytest, editors and Python leave behind."""
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
        for name in names:
            path = Path(root, name)
            if not name.startswith(".") and path.suffix != ".pyc" and path.is_file():
                yield path


def _module(text: str, test_files: Mapping[str, bytes]) -> str:
    """The name that a draft is imported by, by the rule that the reference of tamis.toml states."""
    imported = imported_modules(test_files)
    named: list[str] = re.findall(r"`([A-Za-z_]\w*)\.py`", text)
    mentioned = [name for name in named if not name.startswith("test_")]
    if mentioned:
        return next((name for name in mentioned if name in imported), mentioned[0])
    ours = {Path(name).stem for name in test_files} | {name.split("/")[0] for name in test_files}
    candidates = [name for name in imported if name not in ours and name not in sys.stdlib_module_names]
    if not candidates:
        return "draft"
    installed = packages_distributions()
    return next((name for name in candidates if name not in installed), "draft")
