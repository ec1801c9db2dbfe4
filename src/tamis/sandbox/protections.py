"""What this machine gives a box, found by starting one: for `tamis doctor`, and for anyone who wonders."""

import os
import platform
from collections.abc import Mapping

from tamis.errors import SandboxFault
from tamis.records import Record
from tamis.sandbox.records import Limits
from tamis.sandbox.supervisor import Box, Setup

LAYERS: Mapping[str, str] = {
    "user": "user namespace: the draft has no rights outside",
    "mount": "mount namespace: mounts of its own",
    "root": "a root of its own: only the runtime is there",
    "pid": "PID namespace: it sees and signals no other process, and dies as a whole",
    "net": "network namespace: no network, not even to itself",
    "ipc": "IPC namespace: no shared memory with others",
    "uts": "host name of its own",
    "uid": "runs as nobody, where tamis runs as root",
    "scratch": "one folder to write in, of a capped size",
    "landlock": "Landlock: the kernel refuses other files, by path",
    "seccomp": "seccomp: the kernel refuses processes, network, signals, and says what was tried",
    "rlimits": "limits of memory, CPU, files and processes",
    "cgroups": "control groups: memory and processes of a whole box",
    "deadline": "what decides that a draft took too long",
}


class Protections(Record, frozen=True, kw_only=True):
    """The layers as found: `layers` maps each to "on…" or "off: why". `strong` says whether the kernel guards files and
    system calls; where it does not, `advice` says what the owner can do."""

    system: str
    user: str
    python: str
    layers: Mapping[str, str]
    strong: bool
    advice: str = ""
    fault: str | None = None


def protections(limits: Limits | None = None) -> Protections:
    """Starts one box and asks it what it got."""
    facts = {
        "system": f"{platform.system()} {platform.release()} on {platform.machine()}",
        "user": "root" if os.getuid() == 0 else f"uid {os.getuid()}",
        "python": platform.python_version(),
    }
    try:
        box = Box(Setup(limits or Limits(), "nothing"))
    except SandboxFault as fault:
        return Protections(**facts, layers={}, strong=False, advice=_ADVICE, fault=fault.what)
    box.close()
    strong = is_strong(box.how)
    return Protections(**facts, layers=box.how, strong=strong, advice="" if strong else _ADVICE)


def is_strong(how: Mapping[str, str]) -> bool:
    """Whether the kernel itself keeps a draft from the owner's files and from other processes."""

    def on(layer: str) -> bool:
        return how.get(layer, "off").startswith("on")

    return on("seccomp") and (on("landlock") or on("root"))


_ADVICE = (
    "here a draft is held by limits of memory and CPU only: it can read and write what you can. "
    'Give the box a container or VM: [sandbox] command = ["docker", "run", "--rm", "-i", "--network=none", …]'
)
