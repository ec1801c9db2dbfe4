"""A model of sentences is one more group of features where it is there, and is left out aloud where it is not."""

import sys
from types import ModuleType

import numpy as np
import pytest

from tamis.taste import sentences
from tamis.taste.features import read_features
from tamis.taste.sentences import with_sentences

TEXTS = ["The sea was grey.", "The bread rose.", "Waves broke over the pier."]


class Encoder:
    def __init__(self, model: str, *, local_files_only: bool) -> None:
        assert local_files_only
        if model != "there":
            raise OSError(f"{model} is not a folder\nand more lines")

    def encode(self, texts: list[str], *, show_progress_bar: bool) -> np.ndarray:
        return np.array([[len(text), text.count("e"), 1.0] for text in texts])


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType(sentences.PACKAGE)
    package.SentenceTransformer = Encoder  # type: ignore[attr-defined]
    package.__spec__ = object()  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, sentences.PACKAGE, package)


def test_the_models_vectors_are_one_more_group(installed: None) -> None:
    features, note = with_sentences(read_features(TEXTS), TEXTS, "there")
    assert note == ""
    assert (features.groups["sentences"] ** 2).sum(axis=1).mean() == pytest.approx(1)


def test_a_model_that_is_not_on_this_machine_is_left_out_and_told(installed: None) -> None:
    features, note = with_sentences(read_features(TEXTS), TEXTS, "elsewhere")
    assert "sentences" not in features.groups
    assert note.endswith("left out: elsewhere is not a folder")


def test_without_the_package_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "PACKAGE", "no_such_package_anywhere")
    features, note = with_sentences(read_features(TEXTS), TEXTS, "there")
    assert "sentences" not in features.groups
    assert "not installed" in note
