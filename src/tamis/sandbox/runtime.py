"""What of this machine a draft can see: the interpreter's own files and the packages beside it, and not tamis itself,
whose examples hold answers."""

import re
import site
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/usr/share/zoneinfo")
_TOOLS = (
    "/bin",
    "/usr/bin",
    "/usr/local/bin",
    "/usr/include",
    "/usr/libexec",
    "/usr/local/include",
    "/etc/alternatives",
)
_HIDDEN = "tamis"


def readable(*, tools: bool) -> list[str]:
    """Files and folders that the runtime consists of. With `tools`, the machine's programs too."""
    own = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), str(Path(sys.base_prefix) / "lib")]
    found: list[str] = []
    for path in (*own, *packages(), *_SYSTEM, *(_TOOLS if tools else ())):
        if Path(path).exists() and not any(path == p or path.startswith(p + "/") for p in found):
            found.append(path)
    return found


def packages() -> list[str]:
    """The folders that a draft's imports are looked for in, after the standard library."""
    known = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    if not sys.flags.no_user_site and site.ENABLE_USER_SITE:
        known.add(site.getusersitepackages())
    return sorted(path for path in known if Path(path).is_dir())


def masked() -> list[str]:
    """Folders within the runtime that are covered over: tamis, wherever it is installed."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    places = [*map(Path, packages()), stdlib / "site-packages", Path("/usr/lib/python3/dist-packages")]
    here = Path(__file__).resolve().parents[1]
    return sorted({str(p) for place in places if (p := place / _HIDDEN).is_dir()} | {str(here)})


def rules(*, tools: bool) -> tuple[list[str], list[str]]:
    """For Landlock without a new root: what may be read, and the folders of which only the names may be listed, since
    something in them is hidden."""
    hidden = masked()
    reading: list[str] = []
    listing: list[str] = []
    for path in readable(tools=tools):
        _open_around(str(Path(path).resolve()), hidden, reading, listing)
    return reading, listing


def _open_around(path: str, hidden: list[str], reading: list[str], listing: list[str]) -> None:
    """Adds `path` as a whole, or piece by piece where something within it is hidden."""
    if path in hidden:
        return
    if not any(h.startswith(path + "/") for h in hidden):
        reading.append(path)
        return
    listing.append(path)
    for entry in sorted(Path(path).iterdir()):
        _open_around(str(entry), hidden, reading, listing)


_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_NOT_AHEAD = {
    "__future__",
    "this",
    "antigravity",
    "tkinter",
    "idlelib",
    "turtle",
    "test",
    "site",
    "sitecustomize",
    "pdb",
}
_LOOKED_AT, _OFTEN = 200, 0.2


def often_imported(sources: Iterable[bytes]) -> tuple[str, ...]:
    """Modules of the standard library that a fifth of the drafts import: a box imports them once, before it forks."""
    looked_at = list(islice(sources, _LOOKED_AT))
    found = Counter(name for source in looked_at for name in {m.decode() for m in _IMPORT.findall(source[:20_000])})
    known = sys.stdlib_module_names - _NOT_AHEAD
    return tuple(sorted(name for name, n in found.items() if name in known and n >= _OFTEN * len(looked_at)))
