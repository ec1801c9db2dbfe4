import ast

import msgspec

from tamis.behaviour.next_round import next_brief
from tamis.behaviour.owner import Told
from tamis.sandbox import Call

DESK = Call(name="Desk")
LEND = Call(name="lend", on=0, args=("drill", ["date", "2026-03-01"]))
RENEW = Call(name="renew", on=0, args=("drill", ["date", "2026-03-04"]))
BACK = Told(id="1", decision="a", program=(DESK, LEND, RENEW), kind="value", outcome=b'["=",["date","2026-03-15"]]')
NEVER = Told(id="2", decision="b", program=(DESK, RENEW), kind="never")


def test_the_next_brief_holds_the_old_one_what_is_settled_and_what_fails() -> None:
    text = next_brief("# The desk\n\nLend tools.\n", [BACK, NEVER], [("draft_07.py", [BACK])])
    assert text.startswith("# The desk\n\nLend tools.\n")
    assert '`desk.lend("drill", 1 March 2026)`, then `desk.renew("drill", 4 March 2026)` → 15 March 2026' in text
    assert "→ never happens" in text
    assert "- `draft_07.py`: 1\n" in text
    assert "# → date(2026, 3, 15)" in text


def test_its_cases_are_python() -> None:
    text = next_brief("# B", [BACK], [("draft_07.py", [BACK])])
    block = text.split("```python\n")[1].split("```")[0]
    calls = [node.func for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Call)]
    assert [called.attr for called in calls if isinstance(called, ast.Attribute)] == ["lend", "renew"]


def test_lines_that_led_up_to_another_are_not_repeated() -> None:
    first = Told(
        id="3", decision="c", program=(DESK, LEND), kind="value", outcome=b'["=",1]', shown=b'["=",1]', page="p"
    )
    second = Told(
        id="4", decision="d", program=(DESK, LEND, RENEW), kind="value", outcome=b'["=",2]', shown=b'["=",2]', page="p"
    )
    text = next_brief("# B", [first, second], [])
    assert text.count(" → ") == 1


def test_each_case_stands_there_once_however_often_it_was_told() -> None:
    again = msgspec.structs.replace(BACK, id="5", page="p", shown=BACK.outcome)
    text = next_brief("# B", [BACK, NEVER, again], [("draft_07.py", [BACK, again]), ("draft_09.py", [NEVER, again])])
    assert text.count('desk.renew("drill", 4 March 2026)` → 15 March 2026') == 1
    assert text.count("# → date(2026, 3, 15)") == 1
    assert "- `draft_07.py`: 1\n- `draft_09.py`: 1, 2\n" in text


def test_a_case_on_the_way_to_another_stands_in_its_calls() -> None:
    lent = Told(id="6", decision="c", program=(DESK, LEND), kind="value", outcome=b'["=",1]')
    text = next_brief("# B", [lent, BACK], [("draft_07.py", [lent, BACK])])
    block = text.split("```python\n")[1].split("```")[0]
    assert block.count("desk = Desk()") == 1
    assert block.index("# → 1\n") < block.index("desk.renew") < block.index("# → date")


def test_nothing_answered_is_said() -> None:
    assert "Nothing was answered." in next_brief("# B", [], [])
