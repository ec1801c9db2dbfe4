"""Who says so: the name that goes with what a person records."""

import getpass


def who(given: str | None) -> str:
    """The name given, else the user's; "unknown" where the machine knows none."""
    if given:
        return given
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
