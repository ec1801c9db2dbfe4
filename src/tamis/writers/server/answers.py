"""From an answer as the model gave it to the draft in it.

- **software**: the code, taken out of its fences. An answer of several files becomes one draft: the file that is named
  like the brief's module, or the only one that is neither a test nor a document, is the draft; where that leaves more
  than one, all of them follow each other in the order in which they came, each below a comment that names it. Several
  blocks without names are one file: the last one that holds everything the brief asks for, else all that hold some.
- **lab**: the record, a JSON object, out of its fence or out of the words around it.
- **prose**: the text as it is; only a fence around the whole of it is taken away.

Nothing is repaired. What was cut off stays cut off.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from tamis.brief import CODE_SUFFIXES, LoadedBrief
from tamis.writers.server.fences import Fence, parted

SUFFIX_OF = {
    "python": ".py", "py": ".py", "python3": ".py", "c": ".c", "go": ".go", "golang": ".go", "java": ".java",
    "javascript": ".js", "js": ".js", "rust": ".rs", "rs": ".rs", "typescript": ".ts", "ts": ".ts",
    "tsx": ".tsx",
}  # fmt: skip
_NOT_CODE = frozenset(
    ("bash", "sh", "shell", "console", "text", "txt", "output", "markdown", "md", "json", "toml", "yaml", "ini")
)
_THINKING = re.compile(r"\A\s*<(think|thinking|reasoning)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_DEFINED = re.compile(r"^(?:async\s+def|def|class)\s+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?=", re.MULTILINE)
_COMMENT = {".py": "# ", **dict.fromkeys((".c", ".go", ".java", ".js", ".mjs", ".rs", ".ts", ".tsx"), "// ")}


class Content(msgspec.Struct, frozen=True):
    """A draft's text and the suffix that its name should have."""

    text: str
    suffix: str


def content_of(answer: str, brief: LoadedBrief) -> Content:
    """The draft in an answer."""
    answer = _THINKING.sub("", answer, count=1)
    match brief.brief.desk:
        case "software":
            return _code(answer, brief)
        case "lab":
            return Content(_record(answer), ".json")
        case "prose":
            return Content(_text(answer), ".txt")


# prose


def _text(answer: str) -> str:
    found = parted(answer)
    text = found.fences[0].content if len(found.fences) == 1 and not found.around else answer
    return text.strip() + "\n" if text.strip() else ""


# the lab


def _record(answer: str) -> str:
    """The record: the last block that is JSON, else the object among the words, else the answer as it is."""
    found = parted(answer)
    for fence in reversed(found.fences):
        if _is_object(fence.content):
            return fence.content.strip() + "\n"
    start, end = answer.find("{"), answer.rfind("}")
    if 0 <= start < end and _is_object(answer[start : end + 1]):
        return answer[start : end + 1] + "\n"
    return _text(found.fences[0].content if len(found.fences) == 1 else answer)


def _is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, RecursionError):
        return False


# software


def _code(answer: str, brief: LoadedBrief) -> Content:
    fences = [fence for fence in parted(answer).fences if fence.content.strip()]
    if not fences:
        return Content(_text(answer), ".py")
    files = _files(fences)
    if files:
        chosen = _main(files, brief.module)
        return Content(_bundle(chosen), _suffix(chosen[0]))
    code = [fence for fence in fences if fence.language not in _NOT_CODE] or fences
    chosen = _told_apart(code, _wanted(brief))
    return Content("\n".join(fence.content for fence in chosen), _suffix(chosen[0]))


def _files(fences: Sequence[Fence]) -> list[Fence]:
    """The blocks that are files, the last one of each name; empty where the answer names none."""
    named = {fence.file: fence for fence in fences if fence.file is not None}
    if len(named) == 1 and len(fences) > 1:
        # one block among several happens to be named: the others may well be the rest of it
        (only,) = named.values()
        return [only] if PurePosixPath(only.file or "").suffix in CODE_SUFFIXES else []
    return list(named.values())


def _main(files: Sequence[Fence], module: str) -> Sequence[Fence]:
    """The file that is the draft, or all of them."""
    wanted = module.replace(".", "/") + ".py"
    for fence in files:
        if fence.file == wanted or f"/{fence.file}".endswith(f"/{wanted}"):
            return [fence]
    code = [fence for fence in files if _is_code(fence.file or "")]
    return code if len(code) == 1 else code or files


def _is_code(file: str) -> bool:
    path = PurePosixPath(file)
    test = path.name.startswith("test_") or path.stem.endswith("_test") or path.name in {"conftest.py", "setup.py"}
    return path.suffix in CODE_SUFFIXES and not test


def _bundle(files: Sequence[Fence]) -> str:
    """One file as it is; several after each other, each below its name."""
    if len(files) == 1:
        return files[0].content
    mark = _COMMENT.get(_suffix(files[0]), "# ")
    return "\n".join(f"{mark}file: {fence.file}\n{fence.content}" for fence in files)


def _suffix(fence: Fence) -> str:
    named = PurePosixPath(fence.file or "").suffix
    return named if named in CODE_SUFFIXES else SUFFIX_OF.get(fence.language, ".py")


def _wanted(brief: LoadedBrief) -> frozenset[str]:
    """The names that the brief's interface defines."""
    return _defined(brief.interface or "")


def _defined(source: str) -> frozenset[str]:
    return frozenset(name or value for name, value in _DEFINED.findall(source))


def _told_apart(code: Sequence[Fence], wanted: frozenset[str]) -> Sequence[Fence]:
    """The block or blocks that hold what is wanted; the longest where nothing says what that is."""
    held = [_defined(fence.content) & wanted for fence in code]
    everything = frozenset().union(*held)
    if not everything:
        return [max(code, key=lambda fence: len(fence.content))]
    for fence, names in zip(reversed(code), reversed(held), strict=True):
        if names == everything:
            return [fence]
    return [fence for fence, names in zip(code, held, strict=True) if names]
