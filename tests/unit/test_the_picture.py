"""The design's picture holds: imports run one way, and SQL, HTML and printing stay where they belong."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tamis

SRC = Path(tamis.__file__).parent

LAYERS = (
    {"records"},
    {"errors", "clock", "progress"},
    {"tokens", "interface", "strict", "config", "reference"},
    {"brief", "ledger", "scaffold"},
    {"sandbox", "writers", "checks", "plugins", "testing"},
    {"findings"},
    {"run", "time"},
    {"reading", "pipeline"},
    {"behaviour", "taste", "lab", "simulate", "speed"},
    {"software"},
    {"programs"},
    {"views", "views_draft", "desks"},
    {"sieve"},
    {"report", "web"},
    {"cli"},
)
"""Each part may import its own layer and the ones before it."""

RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}
FILES = sorted(path for path in SRC.rglob("*.py") if path.name != "__init__.py" or path.parent != SRC)


def part_of(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def imported_parts(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            pieces = name.split(".")
            if pieces[2:3] == ["settings"] and pieces[1] in {"taste", "lab"}:
                continue  # what a desk's section of tamis.toml may say is part of the settings, wherever it stands
            if pieces[0] == "tamis" and len(pieces) > 1 and pieces[1] in RANK:
                yield pieces[1], node.lineno


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_imports_run_one_way(path: Path) -> None:
    part = part_of(path)
    assert part in RANK, f"{part} has no place in the picture: give it one in LAYERS and in docs/explanation/design.md"
    for imported, line in imported_parts(ast.parse(path.read_text())):
        where = f"{path.relative_to(SRC)}:{line}"
        assert RANK[imported] <= RANK[part], f"{where} imports {imported}, which stands above {part}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_sql_html_and_printing_stay_in_their_rooms(path: Path) -> None:
    part, tree = part_of(path), ast.parse(path.read_text())
    if part != "cli":
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        # what runs inside the box, or is written out for the owner to run, has no terminal of ours
        assert part == "sandbox" or not any(isinstance(c.func, ast.Name) and c.func.id == "print" for c in calls)
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    if part != "ledger":
        assert not any(text.lstrip().startswith(("SELECT ", "INSERT ", "CREATE TABLE")) for text in texts)
    if part not in {"report", "web"}:
        assert not any("<html" in text or "<body" in text for text in texts)


def test_nothing_in_src_knows_the_stand_in_owner() -> None:
    for path in FILES:
        assert "lending/owner" not in path.read_text(), path
