"""The parser's own process. It reads texts that nobody has vetted, so it may crash, run out of memory or be killed for
the CPU seconds that it took, and only it dies of that.

Run as a script. A request is a line of JSON (the fields of `_Process.ask`) and then so many bytes; its answer is one
line of JSON, after which come as many bytes as its "code" says. `as` is "python" (compile it as an import would, and
say what shape the code has; where `file` names a module's file, its code comes along, for the box that will run it),
"tree" (the canonical syntax tree's digest), "texts" (several, of as many bytes each as `sizes` says, which are not
parsed but counted and hashed) or the name of a tree-sitter grammar. It ends when its standard input does.
"""

import contextlib
import gc
import hashlib
import importlib
import json
import marshal
import opcode
import os
import resource
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

Reply = dict[str, str | int | None]

GRAMMARS = {
    "c": ("tree_sitter_c", "language"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
}
MAX_MEMORY_BYTES = 2 << 30
CO_OPTIMIZED = 1
CO_HAS_DOCSTRING = 0x4000000 if sys.version_info >= (3, 14) else 0
LOADS = tuple(opcode.opmap[name] for name in ("LOAD_CONST", "RETURN_CONST") if name in opcode.opmap)
STORES = opcode.opmap["STORE_NAME"]
EXTENDS = opcode.opmap["EXTENDED_ARG"]
_parsers: "dict[str, Parser]" = {}


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    while header := requests.readline():
        request = json.loads(header)
        content = requests.read(request["bytes"])
        _limit_cpu(request["cpu_seconds"])
        if request["as"] == "texts":
            reply, code = measured(content, request["sizes"], request["uncounted"])
        else:
            reply, code = answer(request["as"], content, frozenset(request["keep"]), file=request["file"])
        replies.write(json.dumps({**reply, "code": len(code)} if code else reply).encode() + b"\n" + code)
        replies.flush()


def answer(kind: str, content: bytes, keep: frozenset[str] = frozenset(), *, file: str = "") -> tuple[Reply, bytes]:
    """What there is to say, and the code of a module that came from `file`."""
    try:
        match kind:
            case "python":
                return compiled(content, file=file)
            case "tree":
                return canonical(content, keep), b""
            case _:
                return by_grammar(kind, content), b""
    except MemoryError:
        reason = (
            "nests deeper than Python's parser goes" if _is_small() else "needs more memory than the parser may take"
        )
        return {"problem": reason}, b""
    except RecursionError as error:
        return {"problem": f"nests too deep: {error}"}, b""


def compiled(content: bytes, *, file: str = "") -> tuple[Reply, bytes]:
    """Whether Python would take it for a module, the shape of its code, and, where it has a `file`, the code itself.
    Nothing of it is run."""
    try:
        code = compile(content, file or "draft", "exec", dont_inherit=True, optimize=0)
    except SyntaxError as error:
        return {"problem": error.msg, "line": error.lineno, "column": error.offset}, b""
    except (ValueError, UnicodeError) as error:
        return {"problem": str(error)}, b""
    said = "\0".join(shape(code)).encode("utf-8", "surrogatepass")
    return {"shape": hashlib.sha256(said).hexdigest()[:32]}, marshal.dumps(code) if file else b""


def measured(content: bytes, sizes: list[int], uncounted: list[int]) -> tuple[Reply, bytes]:
    """What is taken of each of some texts: `tamis.checks.shingling`."""
    from tamis.checks.shingling import packed, split  # noqa: PLC0415 - it loads a tokenizer, and parsing needs none

    try:
        return {}, packed(split(content, sizes), uncounted)
    except MemoryError:
        return {"problem": "needs more memory than may be taken"}, b""


def canonical(content: bytes, keep: frozenset[str]) -> Reply:
    from tamis.checks.syntax_tree import tree_digest  # noqa: PLC0415 - most drafts are told apart by shape alone

    try:
        return {"tree": tree_digest(content, keep)}
    except (SyntaxError, ValueError):
        return {"tree": None}
    finally:
        gc.collect()


def shape(code: CodeType) -> Iterator[str]:
    """What two modules have in common if they differ in layout, docstrings, local names and names of private helpers
    only: counts, visible names and plain constants. It is cheap, and only a necessary condition."""
    yield f"({code.co_argcount} {code.co_posonlyargcount} {code.co_kwonlyargcount} {code.co_flags & ~CO_HAS_DOCSTRING}"
    # from Python 3.13 on, a class keeps its first line as a number among its constants, and that is layout
    plain = (float, complex, bytes) if _is_class_body(code) else (int, float, complex, bytes)
    for value in code.co_consts:
        if isinstance(value, plain):
            yield hex(value) if type(value) is int else repr(value)
    # in an order of their own: a docstring that stands elsewhere too would change where a text comes
    yield from sorted(repr(text) for text in _texts(code))
    for name in code.co_names:
        if not name.startswith("_"):
            yield name
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from shape(value)
    yield ")"


def _texts(code: CodeType) -> Iterator[str]:
    """The texts that the code uses, without its docstring."""
    docstring = _docstring(code)
    for number, value in enumerate(code.co_consts):
        if not isinstance(value, str) or "<locals>" in value:
            continue
        if number != docstring or _times_loaded(code, number) > (0 if code.co_flags & CO_OPTIMIZED else 1):
            yield value


def _docstring(code: CodeType) -> int | None:
    """The place of its docstring among its constants. A function's is the first, a class or module stores it."""
    if code.co_flags & CO_OPTIMIZED:
        has = code.co_flags & CO_HAS_DOCSTRING if CO_HAS_DOCSTRING else not code.co_name.startswith("<")
        return 0 if has else None
    if "__doc__" not in code.co_names:
        return None
    words, store = _instructions(code), STORES | code.co_names.index("__doc__") << 8
    at = words.index(store) if store in words else 0
    before = words[at - 1] if at else 0
    return next((before >> 8 for load in LOADS if before & 0xFF == load), None)


def _times_loaded(code: CodeType, constant: int) -> int:
    words, found = _instructions(code), 0
    for load in LOADS:
        wanted, at = load | constant << 8, -1
        with contextlib.suppress(ValueError):
            while True:
                at = words.index(wanted, at + 1)
                found += not at or words[at - 1] & 0xFF != EXTENDS
    return found


def _instructions(code: CodeType) -> tuple[int, ...]:
    """Each operation in the lower byte of a number, its argument in the upper."""
    return struct.unpack(f"<{len(code.co_code) // 2}H", code.co_code)


def _is_class_body(code: CodeType) -> bool:
    return not code.co_flags & CO_OPTIMIZED and code.co_name != "<module>"


def by_grammar(language: str, content: bytes) -> Reply:
    if language not in _parsers:
        module, function = GRAMMARS[language]
        try:
            from tree_sitter import Language, Parser  # noqa: PLC0415 - an extra, and slow to load

            _parsers[language] = Parser(Language(getattr(importlib.import_module(module), function)()))
        except ImportError:
            return {"missing": language}
    root = _parsers[language].parse(content).root_node
    if not root.has_error:
        tree = leaves_digest(root)
        return {"shape": tree, "tree": tree}
    node = _first_error(root)
    row, column = node.start_point
    line = content.split(b"\n", row + 1)[row]
    last = node.end_point.row + 1
    where = f", somewhere from here to line {last}" if last > row + 1 else ""
    problem = f"'{node.type}' is missing" if node.is_missing else f"invalid syntax{where}"
    return {"problem": problem, "line": row + 1, "column": len(line[:column].decode("utf-8", "replace")) + 1}


def leaves_digest(root: "Node") -> str:
    """The tree without comments and layout: every node's kind, and the text of those without children."""
    digest = hashlib.sha256()
    cursor = root.walk()
    depth = 0
    while True:
        node = cursor.node
        if node is not None and "comment" not in node.type:
            leaf = (node.text or b"") if not node.child_count else b""
            digest.update(f"{depth} {node.type} {len(leaf)} ".encode() + leaf)
            if cursor.goto_first_child():
                depth += 1
                continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return digest.hexdigest()[:32]
            depth -= 1


def _first_error(root: "Node") -> "Node":
    """The first node that is an error or missing: in document order, the innermost."""
    cursor = root.walk()
    best = root
    while True:
        node = cursor.node
        if node is None:
            return best
        if node.has_error or node.is_missing:
            if node.is_error or node.is_missing:
                best = node
            if not cursor.goto_first_child():
                return best
        elif not cursor.goto_next_sibling():
            return best


def _is_small() -> bool:
    """Whether this process never grew large. The parser says MemoryError when its own stack is full as well."""
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes < MAX_MEMORY_BYTES // 2


def _limit_cpu(cpu_seconds: int) -> None:
    """From now on so many CPU seconds, rounded up to the kernel's whole ones, until the process is killed."""
    used = int(time.process_time())
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = used + cpu_seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _limit(what: int, value: int) -> None:
    hard = resource.getrlimit(what)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS knows RLIMIT_AS and refuses it
        resource.setrlimit(what, (value, value))


def main() -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    gc.disable()  # a tree of a hundred thousand nodes would be searched for garbage again and again while it grows
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, MAX_MEMORY_BYTES)
    serve(sys.stdin.buffer, replies)


if __name__ == "__main__":
    main()
