"""What a brief and its tests say about the module that is wanted: the signatures of its fenced Python blocks, and the
modules that the tests import.

Both are the owner's texts, read with Python's parser and never run. A block that does not parse even after the usual
shorthand of signatures is completed is left alone with a note, since the brief's text still counts.
"""

import ast
import re
from collections.abc import Iterator, Mapping

_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})[ \t]*(\w*)[^\n]*\n(.*?)^ {0,3}\2[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
_PARSER_GIVES_UP = (SyntaxError, ValueError, RecursionError, MemoryError)


def read_interface(text: str) -> tuple[str | None, tuple[str, ...]]:
    """The signatures in a brief's text as Python source, None where it has none, and notes on blocks that could not
    be read. Blocks that only show how something is used, or what it prints, are no signatures."""
    blocks: list[str] = []
    notes: list[str] = []
    for line, block in _python_blocks(text):
        try:
            tree, source = _parsed(block)
        except _PARSER_GIVES_UP as error:
            if re.search(r"^\s*(def|class|async def)\s", block, re.MULTILINE):
                notes.append(
                    f"the Python block at line {line} of the brief does not parse, so it is no interface: {error}"
                )
            continue
        if _is_signatures(tree):
            blocks.append(source)
    return ("\n\n".join(blocks) or None, tuple(notes))


def imported_modules(test_files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The top-level modules that the tests import, in the order first met. A test file that does not parse is passed
    over here: collecting the tests will tell it."""
    names: dict[str, None] = {}
    for name, content in test_files.items():
        if not name.endswith(".py"):
            continue
        try:
            tree = ast.parse(content)
        except _PARSER_GIVES_UP:
            continue
        for node in ast.walk(tree):
            match node:
                case ast.Import(names=aliases):
                    names.update((alias.name.split(".")[0], None) for alias in aliases)
                case ast.ImportFrom(module=str(module), level=0):
                    names[module.split(".")[0]] = None
    return tuple(names)


def _python_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Each fenced block that is marked as Python, with the line (from 1) on which its fence stands."""
    for block in _FENCE.finditer(text):
        if block[3].lower() in ("python", "py", "python3", "pyi"):
            yield text.count("\n", 0, block.start()) + 1, block[4].rstrip() + "\n"


def _parsed(source: str) -> tuple[ast.Module, str]:
    """The tree and the source it was read from: as written, else with bare signatures completed (`def f(x) -> int`
    becomes `def f(x) -> int: ...`)."""
    try:
        return ast.parse(source), source
    except SyntaxError:
        completed = _completed(source)
        return ast.parse(completed), completed


def _completed(source: str) -> str:
    lines = source.splitlines()
    result = []
    for number, written in enumerate(lines):
        line = written
        head = re.fullmatch(
            r"(\s*)((?:async\s+)?def\s.*\)(?:\s*->.*?)?|class\s+\w+(?:\(.*\))?)\s*(:?)\s*(#.*)?", written
        )
        if head:
            after = next((later for later in lines[number + 1 :] if later.strip()), "")
            has_body = len(after) - len(after.lstrip()) > len(head[1])
            line = f"{head[1]}{head[2]}:{'' if has_body else ' ...'}{'  ' + head[4] if head[4] else ''}"
        result.append(line)
    return "\n".join(result) + "\n"


def _is_signatures(tree: ast.Module) -> bool:
    declarations = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    around = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    docstring = tree.body and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant)
    body = tree.body[1:] if docstring else tree.body
    return any(isinstance(node, declarations) for node in body) and all(
        isinstance(node, declarations + around) for node in body
    )
