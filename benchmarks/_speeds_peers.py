"""AIPerf and GuideLLM on the same server, where their commands are given. Both run offline with a local tokenizer."""

import contextlib
import json
import os
import subprocess
import tempfile
from pathlib import Path

REQUESTS = 3
MOST_SECONDS = 240


def aiperf(command: Path, tokenizer: Path, url: str, tokens: int, *, usage: bool) -> float | None:
    """Tokens per second of one stream by AIPerf, counted by the server's usage where it has that. None where it
    reports nothing."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [
            str(command), "profile", "--model", "simulated", "--url", url, "--endpoint-type", "chat", "--streaming",
            "--tokenizer", str(tokenizer), "--isl", "50", "--osl", str(tokens), "--concurrency", "1",
            "--request-count", str(REQUESTS), "--ui", "none", "--no-gpu-telemetry", "--no-server-metrics",
            "--artifact-dir", folder,
        ]  # fmt: skip
        if usage:
            arguments.append("--use-server-token-count")
        _run(arguments)
        found = _json(Path(folder) / "profile_export_aiperf.json")
        return _number(found, "output_token_throughput_per_user", "avg")


def guidellm(command: Path, tokenizer: Path, url: str, tokens: int) -> float | None:
    """Tokens per second of one stream by GuideLLM: one over its inter-token latency. None where it reports nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        _run([
            str(command), "run", "--backend", f"kind=openai_http,target={url},model=simulated",
            "--profile", "kind=concurrent,streams=1", "--constraint", f"kind=max_requests,count={REQUESTS}",
            "--tokenizer", f"kind=hf_auto,model={tokenizer}",
            "--data", f"kind=synthetic_text,prompt_tokens=50,output_tokens={tokens}",
            "--output", f"kind=json,path={path}", "--disable-console-interactive",
        ])  # fmt: skip
        benchmarks = _json(path).get("benchmarks") or [{}]
        ms = _number(benchmarks[0], "metrics", "inter_token_latency_ms", "successful", "mean")
        return 1000 / ms if ms else None


def _run(arguments: list[str]) -> None:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"} if "guidellm" in arguments[0] else None
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(arguments, env=environment, timeout=MOST_SECONDS, check=False, **quiet)


def _json(path: Path) -> dict:
    try:
        return json.loads(path.read_text())
    except (OSError, json.JSONDecodeError):
        return {}


def _number(found: object, *names: str) -> float | None:
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return float(found) if isinstance(found, (int, float)) else None
