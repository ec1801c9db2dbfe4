"""Ends the process with no clean-up before anything is asked."""

import os

os._exit(0)
