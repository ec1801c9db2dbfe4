"""A campaign through its ledger: what goes out, what comes back, and that nothing is lost or counted twice."""

import csv

import numpy as np
import pytest
from openpyxl import Workbook, load_workbook

from tamis.errors import BriefError, CheckError, DraftsError, UsageError
from tamis.lab.campaign import Event
from tamis.lab.owner import StandIn, stand_in
from tamis.lab.plan import doubts_due, past_in, repeats_due
from tamis.lab.settings import LabSection, goals_of
from tamis.lab.sheet import table
from tamis.lab.story import lab_view, ladder
from tamis.lab.telling import read_told, told
from tamis.ledger import Ledger
from tamis.records import Evidence, Measured, NoAnswer, Question

from .lab_helpers import LAB, desk_on, filled, ideas, truth

GOALS = goals_of(LAB)


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path) as opened:
        yield opened


@pytest.fixture
def desk(ledger, tmp_path):
    return desk_on(ledger, tmp_path)


@pytest.fixture
def sheet(desk):
    return desk.write_sheet(desk.next_batch())


def test_a_sheet_holds_the_batch_with_row_ids_hashes_and_units(desk, sheet):
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert [row["row"] for row in rows] == [row.proposed.row for row in desk.campaign.batches[0]]
    assert {row["unit"] for row in rows} == {"V"}
    assert all(row["hash"].startswith("h") and row["campaign"].startswith("c") for row in rows)
    assert sum(float(rows[0][element]) for element in ("Ni", "Fe", "Co")) == pytest.approx(1.0)


def test_results_land_as_evidence_with_who_and_where(desk, sheet, ledger):
    read = desk.take_sheet(filled(sheet, {0: {"synthesis": "S7", "lab_batch": "plate 2"}}), by="Ana")
    assert len(read.events) == 4
    assert read.bad == []
    found = [one for one in ledger.all(Evidence) if one.check.name == "lab"]
    assert all(isinstance(one.answer, Measured) and one.answer.unit == "V" for one in found)
    assert found[0].how["by"] == "Ana"
    assert (found[0].how["synthesis"], found[0].how["lab_batch"]) == ("S7", "plate 2")
    asked = {question.id for question in ledger.all(Question)}
    assert {one.question for one in found} == asked


def test_results_in_another_unit_are_converted(desk, sheet):
    changes = {k: {"overpotential_V": "412,5", "unit": "mV"} for k in range(4)}
    read = desk.take_sheet(filled(sheet, changes), by="Ana")
    assert [event.values["overpotential_V"] for event in read.events] == pytest.approx([0.4125] * 4)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"row": "B01-09-dead"}, "no such row was ever proposed here; its hash is that of B01-02-"),
        ({"row": "B01-09-dead", "hash": ""}, "this campaign's rows are B01-01-"),
        ({"status": "faild", "overpotential_V": ""}, "'faild' is none of failed, withdrawn and corrected"),
        ({"row": ""}, "no row id"),
        ({"hash": "h000000000000"}, "the idea proposed in this row has h"),
        ({"unit": ""}, "without a unit"),
        ({"unit": "kg"}, "can't be turned into V"),
        ({"unit": "vlots"}, "no unit 'vlots'"),
        ({"overpotential_V": "35"}, "physically possible"),
        ({"overpotential_V": "inf"}, "not a finite number"),
        ({"overpotential_V": "2-Jan"}, "a spreadsheet has turned"),
        ({"overpotential_V": "1.234,5"}, "for thousands or for decimals"),
        ({"campaign": "c123456789abc"}, "another campaign"),
        ({"status": "corrected"}, "no result yet"),
    ],
)
def test_a_bad_row_is_told_with_its_line_and_the_good_ones_land(desk, sheet, change, why):
    read = desk.take_sheet(filled(sheet, {1: change}), by="Ana")
    assert len(read.events) == 3
    assert [bad.line for bad in read.bad] == [3]
    assert why in read.bad[0].why
    assert sum(1 for row in desk.campaign.rows() if row.results) == 3


def test_the_same_sheet_uploaded_twice_changes_nothing(desk, sheet, ledger):
    path = filled(sheet)
    desk.take_sheet(path, by="Ana")
    before = ledger.position()
    again = desk.take_sheet(path, by="Ana")
    assert (len(again.events), again.again) == (0, 4)
    assert [one for one in ledger.all(Evidence) if one.check.name == "lab"] != []
    assert sum(1 for one in ledger.all(Evidence) if one.check.name == "lab") == 4
    assert ledger.position() <= before + 1  # the span of having looked


@pytest.mark.parametrize(
    "again", [{"overpotential_V": "410", "unit": "mV"}, {"lab_batch": "L7"}, {"measured_at": "2026-12-01"}]
)
def test_one_measurement_told_again_in_another_unit_or_with_more_beside_it_counts_once(desk, sheet, again):
    first = {"overpotential_V": "0.41", "unit": "V"}
    desk.take_sheet(filled(sheet, {0: first}), by="Ana")
    read = desk.take_sheet(filled(sheet, {0: {**first, **again}}), by="Ana")
    assert not read.events
    assert max(len(row.results) for row in desk.campaign.rows()) == 1


def test_another_value_for_a_measured_row_is_a_replicate_and_is_said(desk, sheet):
    desk.take_sheet(filled(sheet), by="Ana")
    read = desk.take_sheet(filled(sheet, {0: {"overpotential_V": "0.9"}}), by="Ana")
    assert len(read.events) == 1
    assert any("replicate" in note.why for note in read.notes)
    assert len(desk.campaign.batches[0][0].results) == 2


def test_a_correction_supersedes_what_it_corrects(desk, sheet, ledger):
    desk.take_sheet(filled(sheet), by="Ana")
    desk.take_sheet(filled(sheet, {0: {"overpotential_V": "0.9", "status": "corrected"}}), by="Bo")
    row = desk.campaign.batches[0][0]
    assert [event.values["overpotential_V"] for event in row.results] == [0.9]
    found = [one for one in ledger.all(Evidence) if one.check.name == "lab"]
    newest = found[-1]
    assert newest.how["by"] == "Bo"
    assert newest.supersedes in {one.id for one in found[:-1]}


def test_a_row_told_in_two_ways_in_one_file_is_not_taken_and_told_alike_counts_once(desk, sheet):
    path = filled(sheet)
    lines = path.read_text(encoding="utf-8").splitlines()
    other = lines[2].split(",")
    other[lines[0].split(",").index("overpotential_V")] = "0.99"
    path.write_text("\n".join([*lines, lines[1], ",".join(other)]) + "\n", encoding="utf-8")
    read = desk.take_sheet(path, by="Ana")
    assert len(read.events) == 3
    assert sorted(bad.line for bad in read.bad) == [3, 7]
    assert [(note.line, note.why) for note in read.notes] == [(6, "says the same as line 2; it counts once")]
    assert all("in different ways" in bad.why for bad in read.bad)
    assert any(line.startswith("  lines 3, 7, B01-02-") for line in read_told(read, "batch.csv"))


def test_blank_rows_still_wait_and_failed_ones_are_missing_and_never_bad(desk, sheet, ledger):
    read = desk.take_sheet(
        filled(sheet, {0: {"overpotential_V": ""}, 1: {"status": "failed", "note": "leak"}}), by="Ana"
    )
    assert read.blank == 1
    assert sum(1 for row in desk.campaign.rows() if row.waits) == 1
    answers = [one.answer for one in ledger.all(Evidence) if one.check.name == "lab"]
    assert NoAnswer(fault="check", why="leak") in answers
    assert desk.learned().bench.pending.size == 1


@pytest.mark.parametrize(
    ("encoding", "delimiter", "comma"),
    [("utf-8-sig", ";", ","), ("utf-16", "\t", "."), ("cp1252", ";", ","), ("utf-8", ",", ".")],
)
def test_what_spreadsheets_save_is_read(desk, sheet, encoding, delimiter, comma):
    with filled(sheet).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    value = rows[0].index("overpotential_V")
    for row in rows[1:]:
        row[value] = row[value].replace(".", comma)
    path = sheet.with_name("excel.csv")
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    assert len(desk.take_sheet(path, by="Ana").events) == 4


def test_a_workbook_goes_out_and_comes_back(ledger, tmp_path):
    lab = LabSection(goal=LAB.goal, unit="V", batch=4, composition=LAB.composition, sheet="xlsx")
    desk = desk_on(ledger, tmp_path, lab)
    path = desk.write_sheet(desk.next_batch())
    book = load_workbook(path)
    page = book.active
    column = [cell.value for cell in page[1]].index("overpotential_V") + 1
    for line in range(2, 6):
        page.cell(line, column).value = 0.4 + line / 100
    book.save(path)
    read = desk.take_sheet(path, by="Ana")
    assert [event.values["overpotential_V"] for event in read.events] == pytest.approx([0.42, 0.43, 0.44, 0.45])


def test_what_is_no_sheet_is_refused_whole(desk, sheet, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "fake.xlsx").write_text("no workbook")
    Workbook().save(tmp_path / "blank.xlsx")
    for name in ("empty.csv", "other.csv", "fake.xlsx", "blank.xlsx", "absent.csv"):
        with pytest.raises(DraftsError):
            desk.take_sheet(tmp_path / name, by="Ana")
    assert desk.campaign.events == []


def test_a_cell_that_a_spreadsheet_would_run_is_disarmed(ledger, tmp_path):
    lab = LabSection(goal="minimize y", category=("c",), batch=2)
    drafts = [("a", "a", b'{"c": "=HYPERLINK(1)"}'), ("b", "b", b'{"c": "plain"}')]
    desk = desk_on(ledger, tmp_path, lab, drafts)
    text = desk.write_sheet(desk.next_batch()).read_text(encoding="utf-8")
    assert ",=HYPERLINK" not in text
    assert "'=HYPERLINK(1)" in text


def test_a_run_before_results_came_shows_the_same_batch(desk, sheet, ledger, tmp_path):
    again = desk_on(ledger, tmp_path)
    rows = again.batch_to_measure()
    assert [row.proposed.row for row in rows] == [row.proposed.row for row in desk.campaign.batches[0]]
    assert again.write_sheet(rows) == sheet


def test_a_sheet_that_the_lab_is_filling_in_is_never_overwritten(desk, sheet):
    sheet.write_text("mine", encoding="utf-8")
    desk.write_sheet(desk.campaign.batches[0])
    assert sheet.read_text(encoding="utf-8") == "mine"


def test_the_next_batch_follows_from_the_ledger_alone(desk, sheet, ledger, tmp_path):
    desk.take_sheet(filled(sheet), by="Ana")
    other = desk_on(ledger, tmp_path)
    assert [row.proposed for row in other.next_batch()] == [row.proposed for row in desk.next_batch()]


def test_a_kill_before_the_rows_of_an_upload_were_recorded_is_mended(desk, sheet, ledger, tmp_path, monkeypatch):
    add = type(ledger).add

    def dies(self, record):
        if isinstance(record, Evidence) and record.check.name == "lab":
            raise KeyboardInterrupt
        add(self, record)

    monkeypatch.setattr(type(ledger), "add", dies)
    with pytest.raises(KeyboardInterrupt):
        desk.take_sheet(filled(sheet), by="Ana")
    monkeypatch.undo()
    again = desk_on(ledger, tmp_path)
    assert sum(1 for row in again.campaign.rows() if row.results) == 4
    assert sum(1 for one in ledger.all(Evidence) if one.check.name == "lab") == 4


def test_an_idea_that_was_taken_back_is_not_proposed_again(desk, sheet):
    row = next(desk.campaign.rows())
    desk.withdraw(row.proposed.row, by="Ana", why="no powder left")
    place = desk.ideas.places()[row.proposed.draft]
    assert place not in desk.learned().bench.free


def test_a_withdrawn_row_waits_no_longer_and_only_an_open_row_can_be_withdrawn(desk, sheet):
    row = desk.campaign.batches[0][0].proposed.row
    desk.withdraw(row, by="Ana", why="no powder left")
    assert desk.campaign.by_id()[row].withdrawn
    for wrong in (row, "B09-01-beef"):
        with pytest.raises(BriefError):
            desk.withdraw(wrong, by="Ana", why="")


def test_a_batch_is_noted_as_sent_once(desk, sheet):
    assert desk.sent(1, by="Ana") == 4
    assert desk.sent(1, by="Ana") == 0
    with pytest.raises(BriefError):
        desk.sent(2, by="Ana")


def lab_that(answers) -> StandIn:
    return StandIn(answers, "lab.py", LAB)


def test_a_campaign_finds_the_best_and_verifies_it(desk):
    desk.play(lab_that(lambda asked: [{"value": truth(idea)} for idea in asked]), 8)
    standing = desk.standing()
    best = standing.outlook.best[0]
    assert best.first.measured == pytest.approx(0.3, abs=0.011)
    assert best.rung == "replicated"
    assert standing.choice.draft == best.draft
    view = lab_view(standing, GOALS)
    assert len(view.batches) == 8
    assert set(view.coverage) == {"50", "90"}
    assert view.best[0].low <= best.first.measured <= view.best[0].high
    assert any("verified" in line for line in told(standing, GOALS, LAB))


def test_nothing_is_verified_that_was_measured_once(desk, sheet):
    desk.take_sheet(filled(sheet), by="Ana")
    standing = desk.standing()
    assert standing.choice.draft is None
    assert "nothing is verified" in standing.choice.because
    assert standing.choice.odds.p is None


def test_everything_failing_is_said_and_chooses_nothing(desk):
    desk.play(lab_that(lambda asked: [None] * len(asked)), 2)
    standing = desk.standing()
    assert standing.choice.draft is None
    assert "all 8 runs have failed" in standing.outlook.stop


def test_an_infinite_result_of_a_stand_in_is_a_failed_run_with_its_reason(desk):
    desk.play(lab_that(lambda asked: [{"value": float("inf")}, *({"value": truth(idea)} for idea in asked[1:])]), 1)
    first = desk.campaign.batches[0][0]
    assert not first.results
    assert "not a finite number" in first.failed[0].why
    assert sum(1 for row in desk.campaign.rows() if row.results) == 3


def test_a_batch_on_the_bench_does_not_keep_the_next_one_from_going_out(desk, sheet):
    assert desk.batch_to_measure() == desk.campaign.batches[0]  # nobody said that it has gone
    desk.sent(1, by="Ana")
    second = desk.batch_to_measure()
    assert second[0].batch == 2
    assert not {row.proposed.draft for row in second} & {row.proposed.draft for row in desk.campaign.batches[0]}
    desk.take_sheet(filled(sheet), by="Ana")
    assert sum(1 for row in desk.campaign.rows() if row.results) == 4


def test_a_row_that_never_comes_back_is_pending_but_its_batch_is_not_out(desk, sheet):
    desk.next_batch()
    assert desk.learned().bench.out == 8
    desk.take_sheet(filled(sheet, {0: {"overpotential_V": ""}}), by="Ana")
    assert desk.learned().bench.out == 4
    assert len(desk.learned().bench.pending) == 5


def test_what_was_learned_once_is_what_a_new_run_would_learn(desk, sheet, ledger, tmp_path):
    desk.take_sheet(filled(sheet), by="Ana")
    desk.next_batch()
    kept, anew = desk.learned(), desk_on(ledger, tmp_path).learned()
    assert kept.bench.free.tolist() == anew.bench.free.tolist()
    assert kept.bench.pending.tolist() == anew.bench.pending.tolist()
    assert kept.bench.out == anew.bench.out
    assert kept.models[0].weights == anew.models[0].weights
    assert kept.models[0].guess(kept.bench.free).mean.tolist() == anew.models[0].guess(anew.bench.free).mean.tolist()


def test_batches_sent_before_anything_was_known_leave_no_debt_of_repeats(desk):
    for _ in range(4):
        desk.next_batch()
    first = desk.campaign.batches[0]
    done = [
        Event(row=r.proposed.row, kind="measured", values={"overpotential_V": 0.3 + k}) for k, r in enumerate(first)
    ]
    desk.take(done, by="Ana")
    assert repeats_due(desk.campaign, 4, 8) == 1


def test_one_place_in_five_goes_to_doubt_and_every_place_says_why(desk):
    desk.play(StandIn(lambda asked: [{"value": truth(idea)} for idea in asked], "lab.py", LAB), 6)
    whys = [[row.proposed.why for row in batch] for batch in desk.campaign.batches]
    assert set(whys[0]) == {"spread"}
    learned = [why for batch in whys[1:] for why in batch]
    assert set(learned) == {"explore", "doubt", "repeat"}
    assert learned.count("doubt") == len(learned) // 5
    assert max(batch.count("doubt") for batch in whys) == 1


def test_no_place_goes_to_doubt_while_two_batches_are_out(desk):
    desk.play(StandIn(lambda asked: [{"value": truth(idea)} for idea in asked], "lab.py", LAB), 3)
    assert doubts_due(desk.campaign, 8) == 1
    desk.next_batch()
    assert doubts_due(desk.campaign, 4) == 1
    desk.next_batch()
    assert doubts_due(desk.campaign, 4) == 0


def test_forecasts_at_places_for_doubt_are_scored_like_the_others(desk):
    desk.play(StandIn(lambda asked: [{"value": truth(idea)} for idea in asked], "lab.py", LAB), 5)
    doubted = [row for row in desk.campaign.rows() if row.proposed.why == "doubt"]
    assert doubted and all(past_in(row, GOALS[0]) is not None for row in doubted)


def test_constant_results_are_said_and_the_next_batch_is_spread(desk):
    desk.play(lab_that(lambda asked: [{"value": 0.4}] * len(asked)), 2)
    standing = desk.standing()
    assert "the same overpotential_V" in standing.outlook.stop
    assert {row.proposed.why for row in desk.campaign.rows()} == {"spread"}


def test_late_results_come_when_they_come_and_are_not_measured_again(desk):
    desk.play(lab_that(lambda asked: [{"value": truth(idea), "late": k % 3} for k, idea in enumerate(asked)]), 4)
    assert not any(row.waits for row in desk.campaign.rows())
    assert sum(len(row.results) for row in desk.campaign.rows()) == 16


def test_rows_left_waiting_by_a_killed_play_are_measured_by_the_next(desk, ledger, tmp_path):
    desk.next_batch()
    again = desk_on(ledger, tmp_path)
    again.play(lab_that(lambda asked: [{"value": truth(idea)} for idea in asked]), 2)
    assert len(again.campaign.batches) == 2
    assert not any(row.waits for row in again.campaign.rows())


def test_ideas_run_out_and_that_ends_the_play(ledger, tmp_path):
    desk = desk_on(ledger, tmp_path, drafts=ideas()[:6])
    desk.play(lab_that(lambda asked: [{"value": truth(idea)} for idea in asked]), 5)
    assert {row.proposed.draft for row in desk.campaign.rows()} == {f"draft{k}" for k in range(6)}
    left = desk.standing().outlook.left
    assert left is not None
    assert (left.better, left.more) == (0.0, 0.0)


@pytest.mark.parametrize(
    "answers", [lambda asked: [], lambda asked: [3] * len(asked), lambda asked: [{}] * len(asked), lambda asked: 1 / 0]
)
def test_a_stand_in_that_answers_in_another_shape_is_blamed(desk, answers):
    with pytest.raises(CheckError, match=r"lab\.py|stand-in"):
        desk.play(lab_that(answers), 1)
    assert not any(row.results for row in desk.campaign.rows())


def test_a_stand_in_is_loaded_from_its_file_or_refused(tmp_path):
    path = tmp_path / "lab.py"
    for text, error in (("x = 1", UsageError), ("1 / 0", CheckError)):
        path.write_text(text)
        with pytest.raises(error):
            stand_in(path, LAB)
    with pytest.raises(UsageError):
        stand_in(tmp_path / "absent.py", LAB)


def test_replicates_that_disagree_are_said_to_and_are_not_verified(desk):
    times: dict[str, int] = {}

    def measure(asked):
        out = []
        for idea in asked:
            times[idea["name"]] = times.get(idea["name"], 0) + 1
            off = 0.4 if times[idea["name"]] > 1 else 0.0
            out.append({"value": truth(idea) + off, "synthesis": f"S{times[idea['name']]}"})
        return out

    desk.play(lab_that(measure), 7)
    standing = desk.standing()
    assert standing.outlook.disagreeing
    assert all("disagree" in best.disagree and "syntheses" in best.disagree for best in standing.outlook.disagreeing)
    assert any("replicates disagree" in line for line in told(standing, GOALS, LAB))
    assert standing.choice.draft is None


def test_the_ladder_only_narrows_on_its_way_up(desk):
    desk.play(lab_that(lambda asked: [{"value": truth(idea)} for idea in asked]), 3)
    steps = list(ladder(desk.standing()).values())
    assert steps == sorted(steps, reverse=True)


def test_what_was_read_is_told_row_by_row(desk, sheet):
    read = desk.take_sheet(filled(sheet, {1: {"unit": "kg"}}), by="Ana")
    lines = list(read_told(read, "batch.csv"))
    assert lines[0] == "batch.csv: 3 measured, 1 not taken"
    assert lines[1].startswith("  line 3, B01-02-")
    assert "send the sheet again" in lines[-1]


def test_lines_of_which_the_same_is_said_are_told_together(desk, sheet):
    path = filled(sheet, {place: {"campaign": "c123456789abc"} for place in range(4)})
    lines = list(read_told(desk.take_sheet(path, by="Ana"), "batch.csv"))
    assert [line for line in lines if "another campaign" in line] == [line for line in lines if "lines 2 to 5:" in line]
    assert "nothing new was recorded" in lines[-1]


def test_a_row_of_another_idea_says_whose_hash_it_has(desk, sheet):
    rows = desk.campaign.batches[0]
    read = desk.take_sheet(filled(sheet, {1: {"hash": rows[2].proposed.hash}}), by="Ana")
    assert f"it is that of {rows[2].proposed.row}" in read.bad[0].why


def test_a_slip_in_a_row_id_is_told_from_an_id_of_another_campaign(desk, sheet):
    row = desk.campaign.batches[0][1].proposed.row
    slip = row[:-1] + ("0" if row[-1] != "0" else "1")
    read = desk.take_sheet(filled(sheet, {1: {"row": slip, "hash": ""}}), by="Ana")
    assert f"is {row} meant?" in read.bad[0].why
    read = desk.take_sheet(filled(sheet, {1: {"row": f"{row[:7]}zzzz", "hash": ""}}), by="Ana")
    assert "meant?" not in read.bad[0].why


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"PK\x03\x04\0\0", "a workbook"), (b"\x1f\x8b\x08\0", "gzip"), (b"row,idea\nB01,\0\n", "line 2 holds a byte 0")],
)
def test_what_is_no_text_is_told_as_what_it_is(desk, tmp_path, content, why):
    path = tmp_path / "sheet.csv"
    path.write_bytes(content)
    with pytest.raises(DraftsError, match=why):
        desk.take_sheet(path, by="Ana")


def test_a_sheet_whose_lines_end_with_a_return_alone_is_read(desk, sheet):
    path = filled(sheet)
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\r"))
    assert len(desk.take_sheet(path, by="Ana").events) == 4


def test_an_idea_that_failed_and_is_tried_again_is_told_so_on_the_sheet_and_in_the_story(desk):
    desk.play(lab_that(lambda asked: [None for _ in asked]), 1)
    again = desk.campaign.batches[0][0].proposed
    desk.play(lab_that(lambda asked: [None for _ in asked]), 12)
    rows = [row for row in desk.campaign.rows() if row.proposed.draft == again.draft]
    assert [desk.campaign.failed_before().get(row.proposed.row, 0) for row in rows] == list(range(len(rows)))
    later = next(row for row in desk.campaign.rows() if row.proposed.row in desk.campaign.failed_before())
    (header, line) = table([later], {later.proposed.draft: {}}, GOALS, (), desk.campaign)
    assert line[header.index("why")] == f"{later.proposed.why}; failed once before, tried again"
    assert any("failed before and tried again" in line for line in told(desk.standing(), GOALS, LAB))


def test_an_interval_is_not_told_where_all_results_are_the_same(desk):
    desk.play(lab_that(lambda asked: [{"value": 0.4} for _ in asked]), 2)
    lines = [line for line in told(desk.standing(), GOALS, LAB) if "measured once" in line and "90%" in line]
    assert lines
    assert all("90% not known" in line for line in lines)


def test_distance_is_told_to_a_named_list(ledger, tmp_path):
    (tmp_path / "published.csv").write_text("Ni,Fe,Co\n0.6,0.3,0.1\n", encoding="utf-8")
    lab = LabSection(goal=LAB.goal, unit="V", batch=4, composition=LAB.composition, known=("published.csv",))
    desk = desk_on(ledger, tmp_path, lab)
    desk.play(StandIn(lambda asked: [{"value": truth(idea)} for idea in asked], "lab.py", lab), 8)
    distances = {best.name: best.distance for best in desk.standing().outlook.best}
    assert all(distance is not None and distance >= 0 for distance in distances.values())
    assert min(distances.values()) < 0.2


@pytest.mark.parametrize("late", ["soon", None, -1, float("inf"), [2]])
def test_a_stand_in_that_is_late_by_no_number_of_batches_is_told(desk, late):
    lab = StandIn(lambda asked: [{"value": 0.4, "late": late} for _ in asked], "lab.py", LAB)
    with pytest.raises(CheckError, match="a number of batches is expected"):
        desk.play(lab, 1)


@pytest.mark.parametrize("late", [1, 1.0, np.int64(1), True])
def test_a_number_of_batches_may_come_in_any_kind_of_number(desk, late):
    desk.play(StandIn(lambda asked: [{"value": 0.4, "late": late} for _ in asked], "lab.py", LAB), 1)
    assert all(row.results for row in desk.campaign.rows())
