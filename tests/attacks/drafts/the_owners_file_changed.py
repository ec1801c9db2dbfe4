"""Writes into a file of the owner, by every way there is."""

import os

PATH = "@OWNERS_FILE@"
for attempt in (
    lambda: open(PATH, "w").write("changed"),
    lambda: os.truncate(PATH, 0),
    lambda: os.unlink(PATH),
    lambda: os.rename(PATH, PATH + ".bak"),
    lambda: os.chmod(PATH, 0o777),
    lambda: os.utime(PATH, (0, 0)),
    lambda: os.link(PATH, "/tmp/link"),
    lambda: (os.symlink(PATH, "/tmp/symlink"), open("/tmp/symlink", "w").write("changed")),
):
    try:
        attempt()
    except OSError:
        pass


def answer(n):
    return -1
