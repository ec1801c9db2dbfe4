"""Builds the documentation into docs/_site/: one page for each Markdown file, linked from an index. Kept to what a
reader needs, with no dependency but the one that renders Markdown."""

import html
import re
import shutil
from pathlib import Path

from markdown_it import MarkdownIt

DOCS = Path(__file__).parent
ROOT = DOCS.parent
SITE = DOCS / "_site"
ORDER = ("explanation", "how-to", "reference")
STYLE = """body{max-width:48rem;margin:2rem auto;padding:0 1.2rem;font:16px/1.6 system-ui,sans-serif;color:#1d2430}
h1,h2,h3{font-family:Georgia,serif;line-height:1.25}pre{background:#f5f5f2;padding:.8rem 1rem;overflow-x:auto}
code{font-size:.88em}table{border-collapse:collapse;display:block;overflow-x:auto}
td,th{border-top:1px solid #e4e7ec;padding:.3rem .8rem;text-align:left;vertical-align:top}a{color:#0f766e}"""


def main() -> None:
    """Writes the site afresh. Raises FileNotFoundError for a link between pages that leads nowhere."""
    shutil.rmtree(SITE, ignore_errors=True)
    pages = [ROOT / "README.md", ROOT / "GLOSSARY.md", ROOT / "CONTRIBUTING.md"]
    pages += [page for part in ORDER for page in sorted((DOCS / part).glob("*.md"))]
    for page in pages:
        write(page)
    contents = "\n".join(f'<li><a href="{where(page)}">{html.escape(title(page))}</a></li>' for page in pages)
    (SITE / "index.html").write_text(framed("tamis", f"<h1>tamis</h1><ul>{contents}</ul>"), encoding="utf-8")


def write(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+\.md)[^)]*\)", text):
        if not (page.parent / target).exists():
            raise FileNotFoundError(f"{page.relative_to(ROOT)} links to {target}, which is not there")
    body = MarkdownIt("commonmark").enable("table").render(text)
    body = re.sub(
        r'href="([^":]+)\.md',
        lambda link: f'href="{up(page)}{where((page.parent / (link[1] + ".md")).resolve())}',
        body,
    )
    out = SITE / where(page)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(framed(title(page), f'<p><a href="{up(page)}index.html">tamis</a></p>{body}'), encoding="utf-8")


def where(page: Path) -> str:
    """The page's place in the site, from its top."""
    inside = page.is_relative_to(DOCS)
    return str(page.relative_to(DOCS if inside else ROOT).with_suffix(".html"))


def up(page: Path) -> str:
    return "../" * where(page).count("/")


def title(page: Path) -> str:
    return next(line[2:] for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("# "))


def framed(name: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(name)}</title><style>{STYLE}</style><body>{body}</body></html>"
    )


if __name__ == "__main__":
    main()
