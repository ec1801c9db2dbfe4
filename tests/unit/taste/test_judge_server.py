"""A model behind a server judges, named by tamis.toml alone."""

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tamis.brief import load_brief
from tamis.desks import TasteDesk
from tamis.ledger import Ledger
from tamis.reading import read
from tamis.run import Run
from tamis.taste.view import taste_view
from tamis.writers.files import FilesWriter


class TakesTheLonger(BaseHTTPRequestHandler):
    """Answers chat completions, streamed or not, with the letter of the longer text."""

    asked: list[dict[str, object]]

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append(body)
        texts = body["messages"][-1]["content"].split("--- Text ")[1:]
        letter = "AB"[texts[1].count("rain") > texts[0].count("rain")]
        part = {"delta" if body.get("stream") else "message": {"role": "assistant", "content": letter}}
        whole = {"id": "v", "model": "judge-7b", "choices": [{"index": 0, "finish_reason": "stop", **part}]}
        usage = {"prompt_tokens": 50, "completion_tokens": 1, "total_tokens": 51}
        content = json.dumps({**whole, "usage": usage}).encode()
        if body.get("stream"):
            content = b"data: " + content + b"\n\ndata: [DONE]\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if body.get("stream") else "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def url() -> Iterator[str]:
    TakesTheLonger.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), TakesTheLonger)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_server_named_in_tamis_toml_judges(tmp_path: Path, url: str) -> None:
    (tmp_path / "drafts").mkdir()
    for n, name in enumerate(("short", "middle", "long"), start=1):
        (tmp_path / "drafts" / f"{name}.txt").write_text(f"The {name} sea. " + f"And {name} rain fell. " * n)
    (tmp_path / "BRIEF.md").write_text("# Endings\n\nWrite one.\n")
    (tmp_path / "rubric.md").write_text("Rain is good.")
    settings = '[brief]\ndesk = "prose"\n[choose]\ntop = 2\n[taste]\njudge = "server"\nrubric = "rubric.md"\n'
    (tmp_path / "tamis.toml").write_text(settings + f'[judge]\nurl = "{url}"\nmodel = "judge-7b"\n')
    with Ledger(tmp_path) as ledger:
        run = Run(load_brief(tmp_path), ledger)
        pool = asyncio.run(read(run, FilesWriter(run.loaded)))
        choice = TasteDesk(run, None, say=lambda _: None).settle(pool, pool.usable)
        view = taste_view(ledger)
    assert "the judge's, not hers" in choice.because
    assert view is not None
    assert view.shortlist[0].name == "long.txt"
    assert view.habits.judge is not None
    assert (view.habits.judge.pairs, view.habits.judge.consistent.p, view.habits.judge.longer.p) == (3, 1.0, 1.0)
    assert len(TakesTheLonger.asked) == 6
    assert all(
        body["model"] == "judge-7b" and "Rain is good." in str(body["messages"]) for body in TakesTheLonger.asked
    )
