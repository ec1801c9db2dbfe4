"""A reader that is not tamis's: bare sockets, an epoll loop and counting bytes, in a process of its own. It knows no
tamis, no HTTP library and no JSON; it counts how often the text of a content field begins.

    python _speeds_raw.py PORT STREAMS TOKENS SECONDS   writes one line of JSON
"""

import json
import os
import resource
import selectors
import socket
import sys
import time
from itertools import pairwise

MARK = b'"content":"'


def main(port: int, streams: int, tokens: int, seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    selector = selectors.DefaultSelector()
    states = []
    body = json.dumps(
        {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": tokens, "stream": True}
    ).encode()
    ask = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    for _ in range(streams):
        sock = socket.create_connection(("127.0.0.1", port))
        state = {"sock": sock, "tail": b"", "times": [], "counts": []}
        states.append(state)
        selector.register(sock, selectors.EVENT_READ, state)
    for state in states:
        state["sock"].sendall(ask)
        state["sock"].setblocking(False)
    _read(selector, time.perf_counter() + seconds)
    cpu = os.times()
    print(json.dumps({"cpu_seconds": cpu.user + cpu.system, "streams": [_told(state) for state in states]}))


def _read(selector: selectors.BaseSelector, until: float) -> None:
    scratch = memoryview(bytearray(1 << 20))
    while selector.get_map() and time.perf_counter() < until:
        for key, _ in selector.select(0.5):
            state = key.data
            count = key.fileobj.recv_into(scratch)
            stamp = time.perf_counter()
            if not count:
                selector.unregister(key.fileobj)
                continue
            piece = state["tail"] + scratch[:count].tobytes()
            found = piece.count(MARK)
            # what may be the beginning of a mark at the end of this read is looked at again with the next one
            kept = piece[-(len(MARK) - 1) :]
            state["tail"] = kept if MARK not in kept else b""
            if found:
                state["times"].append(stamp)
                state["counts"].append(found)
            if piece.endswith(b"\r\n0\r\n\r\n"):
                selector.unregister(key.fileobj)


def _told(state: dict) -> dict:
    """First and last read of tokens, how many came after the first one, and the longest and shortest times between
    reads. The role event has an empty content, which is counted once, in the first read."""
    times, counts = state["times"], state["counts"]
    gaps = [b - a for a, b in pairwise(times)]
    return {
        "first": times[0] if times else None,
        "last": times[-1] if times else None,
        "after_first": sum(counts[1:]),
        "tokens": sum(counts) - 1,
        "reads": len(times),
        "gaps": gaps if len(gaps) < 2000 else [],
    }


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
