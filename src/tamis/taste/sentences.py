"""What texts are about by a sentence-transformers model, where the owner names one that lies on this machine: one more
group of features beside the others. Nothing is downloaded; where the package or the model is not there, the group is
left out and the owner is told.
"""

import importlib
import importlib.util
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from tamis.taste.features import Features
from tamis.taste.meaning import principal

WIDTH = 32
PACKAGE = "sentence_transformers"


class Vectors(msgspec.Struct, frozen=True, kw_only=True):
    """`values` is (texts × dimensions), centred, largest spread first; None where there are none, and `note` says
    why."""

    values: NDArray[np.float64] | None
    note: str = ""


def with_sentences(features: Features, texts: Sequence[str], model: str) -> tuple[Features, str]:
    """The features with this model's vectors as the group "sentences", and what the owner should know."""
    found = sentence_vectors(texts, model)
    return (features if found.values is None else features.with_block("sentences", found.values)), found.note


def sentence_vectors(texts: Sequence[str], model: str) -> Vectors:
    """The texts' vectors by a model that lies in a folder, or in the cache of Hugging Face, under that name."""
    if importlib.util.find_spec(PACKAGE) is None:
        note = f"{PACKAGE} is not installed, so {model} is left out (pip install 'tamis[sentences]')"
        return Vectors(values=None, note=note)
    package = importlib.import_module(PACKAGE)
    try:
        encoder = package.SentenceTransformer(model, local_files_only=True)
    except Exception as error:  # whatever the library raises for a model that is not there or not whole
        why = (str(error) or type(error).__name__).splitlines()[0]
        return Vectors(
            values=None, note=f"the model {model} can't be loaded from this machine, so it is left out: {why}"
        )
    values = np.asarray(encoder.encode(list(texts), show_progress_bar=False), np.float64)
    return Vectors(values=principal(values, WIDTH))
