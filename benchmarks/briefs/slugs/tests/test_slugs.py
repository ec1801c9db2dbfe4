import pytest
from slugs import slug


def test_words_are_joined():
    assert slug("Rain, at last!") == "rain-at-last"


def test_it_is_lower_case():
    assert slug("NEW BRIDGE OPENS") == "new-bridge-opens"


def test_it_is_not_too_long():
    assert len(slug("a very long headline about very little", 20)) <= 20


def test_nothing_left():
    with pytest.raises(ValueError):
        slug("!!!")
