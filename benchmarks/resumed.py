"""What a kill costs: `tamis draft` against a local OpenAI-compatible server, killed with SIGKILL half way and resumed.

Prints what the server says that it wrote, what the ledger says was paid, and what of it was only perhaps paid, once
without a kill and once with one. Run: python benchmarks/resumed.py [--small]
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from tamis.simulate import Failures, Simulated
from tamis.simulate.process import started

TAMIS = Path(sys.executable).with_name("tamis")
TOKENS, MOST = 400, 600


def served(url: str) -> int:
    with urllib.request.urlopen(f"{url}/simulated/account") as told:
        return int(json.loads(told.read())["tokens"])


def brief(folder: Path, url: str) -> Path:
    folder.mkdir()
    (folder / "BRIEF.md").write_text("# An ending\n\nWrite the last page of the story of the lamp.\n")
    writer = f'[writer]\nurl = "{url}"\nmax_tokens = {MOST}\nstreams = 8\n'
    (folder / "tamis.toml").write_text(f'[brief]\ndesk = "prose"\n{writer}')
    return folder


def drafted(folder: Path, drafts: int) -> dict[str, object]:
    told = subprocess.run(
        [TAMIS, "draft", folder, "--n", str(drafts), "--json", "-"], check=True, capture_output=True, text=True
    )
    return dict(json.loads(told.stdout))


def killed_half_way(folder: Path, drafts: int) -> int:
    """Returns how many drafts lay there at the kill."""
    process = subprocess.Popen([TAMIS, "draft", folder, "--n", str(drafts)], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        there = len(list((folder / "drafts").glob("*"))) if (folder / "drafts").is_dir() else 0
        if there >= drafts // 2:
            os.kill(process.pid, signal.SIGKILL)
            break
        time.sleep(0.01)
    process.wait()
    return there


def row(name: str, told: dict[str, object], wrote: int) -> None:
    paid, perhaps = told["paid_tokens_out"], told["perhaps_tokens"]
    print(f"{name:<22}{told['drafts']!s:>7}{wrote:>22,}{paid!s:>18}{perhaps!s:>24}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--small", action="store_true")
    drafts = 16 if options.parse_args().small else 40
    failures = Failures(too_many=0.05, retry_after_seconds=0.2)
    settings = Simulated(stream_speed=400, first_token_ms=50, length=TOKENS, failures=failures)
    with tempfile.TemporaryDirectory() as scratch, started(settings) as url:
        print(f"{drafts} drafts of {TOKENS} tokens, {MOST} at most, eight at once")
        print(f"{'':<22}{'drafts':>7}{'the server wrote':>22}{'paid, written':>18}{'perhaps of all paid':>24}")
        straight = drafted(brief(Path(scratch) / "straight", url), drafts)
        wrote = served(url)
        row("without a kill", straight, wrote)
        folder = brief(Path(scratch) / "killed", url)
        at_kill = killed_half_way(folder, drafts)
        resumed = drafted(folder, drafts)
        row(f"killed at {at_kill}, resumed", resumed, served(url) - wrote)
        print(f"written by the second command: {resumed['drafts_now']} of {drafts}, the others were there")


if __name__ == "__main__":
    main()
