"""Free text as numbers, by the word table that the wheel of wordllama carries. The only file here that imports it."""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from tamis.errors import BriefError
from tamis.lab.gp import Floats


@cache
def _table() -> object:
    found = find_spec("wordllama")
    if found is None or found.origin is None:
        raise BriefError(
            "a field of free text (text = ...) needs wordllama, which is not installed",
            hint="pip install 'tamis[prose]', or leave the column out",
        )
    from wordllama import WordLlama  # noqa: PLC0415  (an extra)

    # its own folder as the cache: weights and tokenizer are in the wheel, and without this it looks online
    return WordLlama.load(cache_dir=Path(found.origin).parent, disable_download=True)


def embedded(texts: Sequence[str]) -> Floats:
    """(n, 256): the mean word vector of each text, of unit length."""
    vectors = _table().embed(list(texts), norm=True)  # type: ignore[attr-defined]  # loaded only where it is installed
    return np.asarray(vectors, dtype=float)
