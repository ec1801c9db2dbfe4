"""Ends the process with success before anything is asked."""

import sys

sys.exit(0)
