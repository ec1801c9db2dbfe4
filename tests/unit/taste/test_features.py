import numpy as np
import pytest

from tamis.taste import features as features_module
from tamis.taste import meaning as meaning_module
from tamis.taste.coming import Coming
from tamis.taste.features import Features, read_features, read_texts
from tamis.taste.folding import fold_shingles
from tamis.taste.meaning import meaning, word_table
from tamis.taste.words import read_words

SEA = ["The sea was grey and the ferry rolled in the waves.", "Waves broke over the pier and the ferry left the sea."]
BREAD = [
    "She kneaded the dough and baked bread in the oven.",
    "The oven was hot, the bread rose and the dough browned.",
]


def nearest_is_of_its_kind(values: np.ndarray) -> bool:
    away = ((values[:, None] - values[None]) ** 2).sum(axis=2) + np.eye(4) * 1e9
    return away.argmin(axis=1).tolist() == [1, 0, 3, 2]


def test_every_group_is_centred_and_contributes_a_variance_of_one() -> None:
    texts = [f"{'word ' * n}and the {name} left. {'Really?' * (n % 3)}" for n, name in enumerate("abcdefghijkl", 3)]
    features = read_features(texts)
    for columns in features.groups.values():
        assert columns.mean(axis=0) == pytest.approx(0, abs=0.3)
        assert (columns**2).sum(axis=1).mean() == pytest.approx(1, abs=0.35)


@pytest.mark.skipif(word_table() is None, reason="wordllama is not installed")
def test_texts_about_the_same_lie_together_by_wordllama() -> None:
    assert nearest_is_of_its_kind(meaning(read_words(SEA + BREAD)).values)


def test_without_wordllama_the_texts_own_words_are_used_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning_module, "word_table", lambda: None)
    features = read_features(SEA + BREAD)
    assert any("tamis[prose]" in note for note in features.notes)
    assert nearest_is_of_its_kind(features.groups["meaning"])


def test_the_same_texts_give_the_same_features() -> None:
    one, other = read_features(SEA + BREAD), read_features(SEA + BREAD)
    assert all(np.array_equal(one.groups[name], other.groups[name]) for name in one.groups)


@pytest.mark.parametrize(
    "texts", [[], ["one"], ["same"] * 5, ["", ""], ["海边的灯。", "信还没有打开。"], ["قرأت", "ثم عادت"]]
)
def test_texts_that_hardly_differ_or_are_of_any_script_have_finite_features(texts: list[str]) -> None:
    features = read_features(texts)
    assert features.n_texts == len(texts)
    assert all(np.isfinite(columns).all() for columns in features.groups.values())


def test_a_text_of_two_megabytes_is_read() -> None:
    features = read_features(["The sea was grey. " * 120_000, *SEA])
    assert all(np.isfinite(columns).all() for columns in features.groups.values())


def test_a_judges_missing_scores_count_as_the_middle() -> None:
    features = Features(n_texts=3, groups={}).with_group("judge", np.array([[1.0], [np.nan], [3.0]]))
    assert features.groups["judge"][:, 0] == pytest.approx(
        [-features.groups["judge"][2, 0], 0, features.groups["judge"][2, 0]]
    )


def test_a_column_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 rows of judge for 3 texts"):
        Features(n_texts=3, groups={}).with_group("judge", np.zeros((2, 1)))


def test_texts_read_in_blocks_are_measured_as_if_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f'{"The sea was grey, and " * n}{name} said "no".' for n, name in enumerate("abcdefgh")] + SEA + BREAD
    for table in (word_table(), None):
        monkeypatch.setattr(meaning_module, "word_table", lambda table=table: table)
        whole = read_texts(texts)
        with monkeypatch.context() as small:
            small.setattr(features_module, "BLOCK_CHARS", 60)
            blocks = read_texts(texts)
        assert len(blocks.style) > 3
        assert same_values(blocks.features([0, 2, 9]), whole.features([0, 2, 9]))
        assert same_values(blocks.features(), whole.features())
        assert blocks.shingles is not None
        assert whole.shingles is not None
        assert np.array_equal(fold_shingles(blocks.shingles).keeper, fold_shingles(whole.shingles).keeper)


def same_values(one: Features, other: Features) -> bool:
    """The same but for the sign of a direction and rounding."""
    return all(
        np.allclose(one.groups[name] @ one.groups[name].T, other.groups[name] @ other.groups[name].T, atol=1e-4)
        for name in one.groups
    )


def test_features_of_some_texts_are_those_of_reading_them_alone() -> None:
    texts = SEA + BREAD + ["A lamp, a dog; a letter..."]
    assert same_values(read_texts(texts).features([0, 1, 2, 4]), read_features([texts[k] for k in (0, 1, 2, 4)]))


def test_texts_come_in_any_order_and_some_of_them_without_a_word() -> None:
    texts = {"dots": "…", "a": SEA[0], "b": BREAD[0], "c": SEA[1], "none": "", "d": BREAD[1]}
    at_once = read_texts([texts[name] for name in "abcd"])
    coming = Coming()
    for name in ("dots", "d", "none", "b", "a"):  # one of them never comes
        coming.add(name, texts[name])
        coming.measure()
    read, places = coming.read({name: texts[name] for name in "abcd"})
    found, wanted = read.features(places), at_once.features()
    assert found.groups["style"] == pytest.approx(wanted.groups["style"])
    assert nearest_is_of_its_kind(found.groups["meaning"][[0, 2, 1, 3]])
    assert read.shingles is not None
    assert at_once.shingles is not None
    assert read.shingles.starts.tolist() == at_once.shingles.starts.tolist()
    assert read.shingles.values.tolist() == at_once.shingles.values.tolist()
