"""The layers of the box, put on with the system's own calls: nothing is installed, nothing runs as root for it.

Each function puts one layer on the calling process and raises OSError where the machine does not give it; nothing here
decides what is enough. Linux only; elsewhere the names exist and raise.
"""

# A lean interpreter has no pathlib: every module it imports is copied into every child.

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable

LINUX = os.uname().sysname == "Linux"
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_RDONLY, _NOSUID, _NODEV, _REMOUNT, _BIND, _REC, _PRIVATE, _DETACH = 1, 2, 4, 32, 4096, 16384, 1 << 18, 2
_PDEATHSIG, _DUMPABLE, _NO_NEW_PRIVS, _SUBREAPER = 1, 4, 38, 36


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _call(what: str, number: int, *args: object) -> int:
    if not LINUX:
        raise OSError(errno.ENOSYS, f"{what}: not on {os.uname().sysname}")
    return _check(_libc.syscall(ctypes.c_long(number), *args), what)


def _prctl(option: int, value: int, what: str) -> None:
    if not LINUX:
        raise OSError(errno.ENOSYS, f"{what}: not on {os.uname().sysname}")
    _check(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), what)


def die_with_parent() -> None:
    _prctl(_PDEATHSIG, 9, "die with the parent")


def adopt_orphans() -> None:
    _prctl(_SUBREAPER, 1, "adopt orphans")


def no_new_privileges() -> None:
    _prctl(_NO_NEW_PRIVS, 1, "no new privileges")


def dumpable(on: bool) -> None:
    """Whether others of the same uid may look into this process and its /proc entry is its own."""
    _prctl(_DUMPABLE, int(on), "dumpable")


_CAPABILITIES = struct.pack("=Ii", 0x20080522, 0), bytes(24)


def drop_capabilities() -> None:
    _call("drop capabilities", _NUMBERS["capset"], *_CAPABILITIES)


def unshare(flags: int, what: str) -> None:
    if not LINUX:
        raise OSError(errno.ENOSYS, f"{what}: not on {os.uname().sysname}")
    _check(_libc.unshare(flags), what)


def map_own_ids(proc: int) -> None:
    """Inside a new user namespace: keep the uid and gid that this process has. `proc` is a descriptor of /proc."""
    uid, gid = os.getuid(), os.getgid()
    return _write_maps(proc, uid, gid)


def _write_maps(proc: int, uid: int, gid: int) -> None:
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        fd = os.open(f"self/{name}", os.O_WRONLY, dir_fd=proc)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    args = [x.encode() if x is not None else None for x in (source, target, kind)]
    _check(_libc.mount(*args, ctypes.c_ulong(flags), data.encode() if data else None), f"mount {target}")


def private_mounts() -> None:
    _mount("none", "/", None, _REC | _PRIVATE)


def tmpfs(target: str, size_mb: int, *, mode: str = "700", files: int | None = None) -> None:
    inodes = files if files is not None else max(1024, size_mb * 256)
    _mount("tamis", target, "tmpfs", _NOSUID | _NODEV, f"size={size_mb}m,mode={mode},nr_inodes={inodes}")


def unmount(target: str) -> None:
    _check(_libc.umount2(target.encode(), _DETACH), f"unmount {target}")


def bind_readonly(source: str, target: str) -> None:
    _mount(source, target, None, _BIND | _REC)
    # mount_setattr adds the flag and keeps those that the host has locked
    attributes = struct.pack("=QQQQ", 1 | 2, 0, 0, 0)
    _call(f"read-only {target}", 442, -100, target.encode(), 0x8000, attributes, ctypes.c_size_t(32))


def bind_device(source: str, target: str) -> None:
    _mount(source, target, None, _BIND)


SCRATCH = "/scratch"
"""The one folder that a draft may write to, where the box has a root of its own."""


def new_root(root: str, runtime: Iterable[str], masked: Iterable[str]) -> None:
    """Makes `root` the root: a small tmpfs that holds the runtime read-only, five devices and an empty SCRATCH. /tmp
    leads there too, unless the runtime itself lies in /tmp."""
    tmpfs(root, 4, mode="755", files=4096)
    for path in runtime:
        _place(path, root + path)
        bind_readonly(path, root + path)
    for path in masked:
        if os.path.isdir(root + path):
            tmpfs(root + path, 1, mode="755", files=8)
    for device in ("null", "zero", "full", "random", "urandom"):
        if os.path.exists(f"/dev/{device}"):
            _place(f"/dev/{device}", f"{root}/dev/{device}")
            bind_device(f"/dev/{device}", f"{root}/dev/{device}")
    os.makedirs(root + SCRATCH, exist_ok=True)
    os.chmod(root + SCRATCH, 0o777)
    if not os.path.exists(root + "/tmp"):
        os.symlink(SCRATCH, root + "/tmp")
    os.chdir(root)
    _call("pivot_root", _NUMBERS["pivot_root"], b".", b".")
    unmount(".")
    os.chdir(SCRATCH)


def _place(path: str, target: str) -> None:
    """An empty file or folder to mount `path` on."""
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if not os.path.exists(target):
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))


# Landlock

_EXECUTE, _READ_FILE, _READ_DIR, _REFER, _TRUNCATE, _IOCTL = 1, 4, 8, 1 << 13, 1 << 14, 1 << 15
_ALL_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_FILE_RIGHTS = _EXECUTE | 2 | _READ_FILE | _TRUNCATE | _IOCTL


def landlock_abi() -> int:
    return _call("Landlock", 444, None, ctypes.c_size_t(0), 1)


def landlock_ruleset(
    readable: Iterable[str], listed: Iterable[str], writable: Iterable[str], *, network: bool, execute: bool
) -> int:
    """A descriptor of the rules: what may be read (and run, where `execute`), whose names may be listed, and where
    may be written. Everything else is refused. Put on with `landlock_restrict`."""
    abi = landlock_abi()
    handled = _ALL_BY_ABI[max(known for known in _ALL_BY_ABI if known <= abi)]
    net = 3 if abi >= 4 and not network else 0
    scoped = 3 if abi >= 6 else 0
    attributes = struct.pack("=QQQ", handled, net, scoped)[: 24 if abi >= 6 else 16 if abi >= 4 else 8]
    ruleset = _call("Landlock rules", 444, attributes, ctypes.c_size_t(len(attributes)), 0)
    read = _READ_FILE | _READ_DIR | (_EXECUTE if execute else 0)
    for paths, rights in ((readable, read), (listed, _READ_DIR), (writable, handled & ~(0 if execute else _EXECUTE))):
        for path in paths:
            _landlock_allow(ruleset, path, rights & handled)
    return ruleset


def _landlock_allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _FILE_RIGHTS
        if rights:
            _call(f"Landlock rule for {path}", 445, ruleset, 1, struct.pack("=Qi", rights, fd), 0)
    finally:
        os.close(fd)


def landlock_restrict(ruleset: int) -> None:
    _call("Landlock", 446, ruleset, 0)


# seccomp: what a draft may not ask the kernel for

_ARCH = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_X32 = 0x40000000
_NEWER = 463
"""System calls from here on are younger than this table: answered as an older kernel would."""
_TABLE: dict[str, tuple[int | None, int | None]] = {
    "capset": (126, 91), "pivot_root": (155, 41), "seccomp": (317, 277),
    "fork": (57, None), "vfork": (58, None), "clone": (56, 220), "clone3": (435, 435),
    "execve": (59, 221), "execveat": (322, 281),
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "accept": (43, 202),
    "accept4": (288, 242),
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": (424, 424),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "mount": (165, 40), "umount2": (166, 39), "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "open_tree_attr": (467, 467),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "acct": (163, 89), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "clock_adjtime": (305, 266), "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162),
    "iopl": (172, None), "ioperm": (173, None), "syslog": (103, 116), "personality": (135, 92),
    "fanotify_init": (300, 262), "lookup_dcookie": (212, 18), "nfsservctl": (180, 42), "vhangup": (153, 58),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "semget": (64, 190),
    "msgget": (68, 186), "mq_open": (240, 180), "mlock": (149, 228), "mlockall": (151, 230), "mlock2": (325, 284),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "utimensat": (280, 88), "futimesat": (261, None), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "setpriority": (141, 140),
    "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119), "sched_setattr": (314, 274),
    "prlimit64": (302, 261), "migrate_pages": (256, 238), "move_pages": (279, 239), "mbind": (237, 235),
    "set_mempolicy": (238, 237), "uselib": (134, None), "ustat": (136, None), "sysfs": (139, None),
    "_sysctl": (156, None), "modify_ldt": (154, None), "vmsplice": (278, 75),
}  # fmt: skip

PROCESS = ("fork", "vfork", "execve", "execveat")
NETWORK = ("socket", "connect", "bind", "listen", "accept", "accept4")
SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal")
SPYING = (
    "ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_open", "pidfd_getfd", "process_madvise",
    "process_mrelease",
)  # fmt: skip
MACHINE = (
    "mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree", "move_mount", "fsopen", "fsmount",
    "fspick", "mount_setattr", "open_tree_attr", "quotactl", "quotactl_fd", "open_by_handle_at", "name_to_handle_at",
    "bpf", "perf_event_open", "userfaultfd", "keyctl",
    "add_key", "request_key", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot",
    "swapon", "swapoff", "acct", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname",
    "setdomainname", "iopl", "ioperm", "syslog", "personality", "fanotify_init", "lookup_dcookie", "nfsservctl",
    "vhangup", "seccomp", "capset", "uselib", "sysfs", "_sysctl", "modify_ldt",
)  # fmt: skip
REFUSED = (
    "io_uring_setup", "io_uring_enter", "io_uring_register", "memfd_create", "memfd_secret", "shmget", "semget",
    "msgget", "mq_open", "mlock", "mlockall", "mlock2",
    "setpriority", "sched_setaffinity", "sched_setscheduler", "sched_setattr", "migrate_pages", "move_pages", "mbind",
    "set_mempolicy", "vmsplice",
)  # fmt: skip
"""Answered with EPERM and no more: memory that no limit counts, and priorities. Libraries ask for these and go on."""
MODES = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "utimensat",
    "futimesat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
)  # fmt: skip
"""Refused where files of the owner could be named: Landlock does not guard a file's mode and times."""

_WORDS = {
    **dict.fromkeys((*PROCESS, "clone"), "start a process"),
    **dict.fromkeys(NETWORK, "use the network"),
    **dict.fromkeys(SIGNALS, "signal another process"),
    **dict.fromkeys(SPYING, "look into another process"),
    **dict.fromkeys(MACHINE, "change the machine"),
    "prlimit64": "change another process's limits",
}
_COLUMN = _ARCH.get(os.uname().machine, (0, 0))[1]
_NUMBERS: dict[str, int] = {name: n for name, ns in _TABLE.items() if (n := ns[_COLUMN]) is not None}
_NAMES = {number: name for name, number in _NUMBERS.items()}


def words_for(number: int) -> str:
    """What the draft tried, for a person: "use the network (socket)"."""
    name = _NAMES.get(number, f"system call {number}")
    return f"{_WORDS.get(name, 'do what no draft may')} ({name})"


_ALLOW, _KILL, _NOTIFY = 0x7FFF0000, 0x80000000, 0x7FC00000
_LOAD, _EQUAL, _AT_LEAST, _BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NR, _ARCH_AT, _ARGS = 0, 4, 16
_CLONE_THREAD = 0x10000


def _op(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value & 0xFFFFFFFF)


def seccomp_filter(*, allow: frozenset[str], guarded_modes: bool) -> Filter:
    """What a draft may not ask the kernel for; `allow` may hold "subprocess" and "network"."""
    arch = _ARCH.get(os.uname().machine)
    if not LINUX or arch is None:
        raise OSError(errno.ENOSYS, f"seccomp: no filter for {os.uname().sysname} on {os.uname().machine}")
    told = SPYING + MACHINE + (() if "subprocess" in allow else PROCESS) + (() if "network" in allow else NETWORK)
    refused = REFUSED + (MODES if guarded_modes else ())
    head = [_op(_LOAD, _ARCH_AT), _op(_EQUAL, arch[0], 1, 0), _op(_RETURN, _KILL), _op(_LOAD, _NR)]
    head += [_op(_AT_LEAST, _X32, 0, 1), _op(_RETURN, _KILL)]
    head += [_op(_AT_LEAST, _NEWER, 0, 1), _op(_RETURN, 0x50000 | errno.ENOSYS)]
    head += _each(refused, 0x50000 | errno.EPERM) + _each(("clone3",), 0x50000 | errno.ENOSYS) + _each(told, _NOTIFY)
    if "subprocess" not in allow:
        head += _if_call("clone", [_op(_LOAD, _ARGS), _op(_BITS, _CLONE_THREAD, 1, 0), _op(_RETURN, _NOTIFY)])
    pid = _PID_MARK  # patched in each child, which alone knows it
    if "subprocess" not in allow:
        to_self = [_op(_LOAD, _ARGS), _op(_EQUAL, pid, 1, 0), _op(_RETURN, _NOTIFY)]
        head += [op for name in SIGNALS if name in _NUMBERS for op in _if_call(name, to_self)]
    limits = [_op(_LOAD, _ARGS), _op(_EQUAL, 0, 2, 0), _op(_EQUAL, pid, 1, 0), _op(_RETURN, _NOTIFY)]
    return Filter(b"".join([*head, *_if_call("prlimit64", limits), _op(_RETURN, _ALLOW)]))


_PID_MARK = 0x7A3B51C9


class Filter:
    """A filter laid out once in the warm process; a child patches its own pid in and puts it on."""

    def __init__(self, program: bytes) -> None:
        self._buffer = ctypes.create_string_buffer(program, len(program))
        mark = struct.pack("=I", _PID_MARK)
        self._places = [at for at in range(4, len(program), 8) if program[at : at + 4] == mark]
        self._header = struct.pack("=HxxxxxxQ", len(program) // 8, ctypes.addressof(self._buffer))
        self._number = ctypes.c_long(_NUMBERS["seccomp"])

    def put_on(self, *, listen: bool) -> int | None:
        """The descriptor on which the supervisor hears what was tried, with `listen`."""
        pid = os.getpid()
        for place in self._places:
            struct.pack_into("=I", self._buffer, place, pid)
        got = _check(_libc.syscall(self._number, 1, 8 if listen else 0, self._header), "seccomp")
        return got if listen else None


def _each(names: Iterable[str], action: int) -> list[bytes]:
    """A run of tests that share one return: few instructions, since every system call walks them."""
    numbers = [_NUMBERS[name] for name in names if name in _NUMBERS]
    ops: list[bytes] = []
    for start in range(0, len(numbers), 200):
        part = numbers[start : start + 200]
        ops += [_op(_EQUAL, number, len(part) - i, 0) for i, number in enumerate(part)]
        ops += [_op(0x05, 1), _op(_RETURN, action)]
    return ops


def _if_call(name: str, body: list[bytes]) -> list[bytes]:
    """`body` for one call by number; the number is loaded again after it."""
    return [_op(_EQUAL, _NUMBERS[name], 0, len(body) + 1), *body, _op(_LOAD, _NR)]


def punch(fd: int, size: int) -> None:
    """Gives back the pages of a memory file: it reads as zeros afterwards."""
    result = _libc.fallocate(fd, 3, ctypes.c_long(0), ctypes.c_long(size))
    _check(result, "clear shared memory")
