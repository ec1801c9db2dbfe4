from pathlib import Path

import pytest

from tamis.behaviour.owner import (
    Ask,
    Either,
    Neither,
    Page,
    Picked,
    Right,
    ShownCall,
    ShownLine,
    Wrong,
    file_owner,
    same,
)
from tamis.errors import BriefError
from tamis.sandbox import Call

OWNER = """
class DontCare(Exception): ...


class TooMuch(ValueError): ...


class Till:
    def __init__(self):
        self.cents = 0

    def put(self, cents):
        if cents == 13:
            raise DontCare
        if cents > 100:
            raise TooMuch(cents)
        self.cents += cents
        return self.cents


def wait():
    import time
    time.sleep(60)
"""
TILL = Call(name="Till")


def put(cents: int) -> Call:
    return Call(name="put", on=0, args=(cents,))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "till.py"
    found.write_text(OWNER)
    return found


def ask(*calls: Call, options: tuple[bytes, ...] = (b'["=",5]', b'["=",6]')) -> Ask:
    return Ask(id="1", decision="d", program=(TILL, *calls), setup=1, options=options, number=1, about=3)


def test_an_owners_file_answers_by_making_the_calls(path: Path) -> None:
    owner = file_owner(path)
    assert owner.answer(ask(put(2), put(4))) == Picked(option=1)
    assert owner.answer(ask(put(7))) == Neither(outcome=b'["=",7]')


def test_dont_care_means_that_either_will_do(path: Path) -> None:
    assert file_owner(path).answer(ask(put(13))) == Either()


def test_after_dont_care_there_is_no_opinion_on_that_object(path: Path) -> None:
    assert file_owner(path).answer(ask(put(13), put(5))) == Either()


def test_exceptions_are_the_same_by_their_name(path: Path) -> None:
    refused = b'["!","TooMuch",["Exception"],"too much for this till"]'
    assert file_owner(path).answer(ask(put(101), options=(b'["=",101]', refused))) == Picked(option=1)
    assert not same(b'["!","TooMuch",[],""]', b'["!","TooLittle",[],""]')


def test_one_is_not_true() -> None:
    assert not same(b'["=",1]', b'["=",true]')


def line(first: int, *calls: tuple[int, bytes]) -> ShownLine:
    program = (TILL, put(2), put(3), put(4))
    shown = tuple(ShownCall(step=first + i, outcome=o) for i, (_, o) in enumerate(calls))
    return ShownLine(program=program, calls=shown, text="")


def test_a_storyboard_is_answered_line_by_line_up_to_a_correction(path: Path) -> None:
    good = line(1, (2, b'["=",2]'))
    bad = line(2, (3, b'["=",6]'))
    after = line(3, (4, b'["=",9]'))
    page = Page(id="p", draft="d", scenes=((good, bad, after), (good,)), headings=("", ""))
    answers = file_owner(path).review(page)
    assert answers is not None
    assert answers[0] == Right()
    assert answers[1] == Wrong(step=2, outcome=b'["=",5]')
    assert [type(a).__name__ for a in answers[2:]] == ["DontKnow", "Right"]


def test_an_owner_that_hangs_is_an_error_not_a_wait(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.behaviour.owner.OWNER_SECONDS", 0.05)
    slow = Ask(id="1", decision="d", program=(Call(name="wait"),), setup=0, options=(), number=1, about=1)
    with pytest.raises(BriefError, match="did not answer"):
        file_owner(path).answer(slow)


def test_a_file_that_is_not_there_or_does_not_import_is_the_owners_to_mend(tmp_path: Path) -> None:
    with pytest.raises(BriefError, match="is not there"):
        file_owner(tmp_path / "nobody.py")
    (tmp_path / "broken.py").write_text("1 / 0")
    with pytest.raises(BriefError, match="importing the owner"):
        file_owner(tmp_path / "broken.py")
