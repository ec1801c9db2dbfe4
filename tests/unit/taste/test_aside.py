from tamis.taste.aside import language_of, why_aside

ENGLISH = "The letter was on the table and she had not opened it, but he was at the door with the dog."
GERMAN = "Der Brief lag auf dem Tisch, und sie hatte ihn nicht geöffnet, denn er war mit dem Hund an der Tür."


def test_empty_cut_and_refused_texts_are_set_aside_with_the_reason() -> None:
    reasons = why_aside(["", " … ", ENGLISH, ENGLISH, ENGLISH], ["stop", "stop", "length", "refused", "stop"])
    assert reasons == {
        0: "is empty",
        1: "is empty",
        2: "was cut off at the writer's limit",
        3: "was refused by its writer",
    }


def test_a_text_in_another_language_than_the_rest_is_set_aside() -> None:
    assert why_aside([ENGLISH] * 5 + [GERMAN], ["stop"] * 6) == {
        5: "is in another language than the rest (German, not English)"
    }


def test_where_languages_are_mixed_none_is_set_aside() -> None:
    assert why_aside([ENGLISH, GERMAN, ENGLISH, GERMAN], ["stop"] * 4) == {}


def test_what_is_unknown_is_never_set_aside() -> None:
    assert language_of("Lighthouse. Ferry. Rain.") is None
    assert why_aside([ENGLISH] * 5 + ["Lighthouse. Ferry. Rain."], ["stop"] * 6) == {}


def test_scripts_are_told_apart() -> None:
    assert language_of("海边的灯还亮着。") == "Chinese or Japanese"
    assert language_of("Письмо лежало на столе") == "Cyrillic"
    assert why_aside([ENGLISH] * 5 + ["Письмо лежало на столе"], ["stop"] * 6).keys() == {5}
