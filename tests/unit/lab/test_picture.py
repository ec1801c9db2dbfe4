"""The campaign's picture, and what the report shows of it."""

from xml.etree import ElementTree

import pytest

from tamis.lab.campaign import Campaign, load
from tamis.lab.owner import StandIn
from tamis.lab.page import lab_page
from tamis.lab.picture import campaign_picture, covered_by_batch
from tamis.lab.settings import goals_of
from tamis.lab.track import Past
from tamis.ledger import Ledger

from .lab_helpers import LAB, desk_on, truth

GOALS = goals_of(LAB)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("picture")
    with Ledger(folder) as ledger:
        desk = desk_on(ledger, folder)
        desk.play(StandIn(lambda asked: [{"value": truth(idea)} for idea in asked], "lab.py", LAB), 4)
        brief = desk.campaign.id
        yield load(ledger, brief), lab_page(ledger, brief, LAB)


def circles(svg: str) -> list[ElementTree.Element]:
    return ElementTree.fromstring(svg).findall(".//{http://www.w3.org/2000/svg}circle")


def test_every_result_has_its_dot_with_what_was_forecast(played):
    campaign, page = played
    titles = [one[0].text for one in circles(page.picture) if len(one)]
    results = [row for row in campaign.rows() if row.results]
    told = [title for title in titles if "measured" in title]
    assert len(told) == len(results) == 16
    assert sum("forecast" in title for title in told) == sum(
        row.proposed.why in {"explore", "doubt"} for row in campaign.rows()
    )


def test_a_campaign_without_results_is_a_picture_too():
    text = campaign_picture(Campaign(id="empty"), GOALS)
    assert "no result yet" in text
    ElementTree.fromstring(text)


def test_the_page_counts_rows_and_lists_the_best_first(played):
    _, page = played
    assert (page.batches, page.proposed, page.measured, page.failed) == (4, 16, 16, 0)
    values = [one.values["overpotential_V"] for one in page.best]
    assert values == sorted(values)


def test_there_is_no_page_before_the_first_batch(tmp_path):
    with Ledger(tmp_path) as ledger:
        assert lab_page(ledger, "nothing", LAB) is None


def test_coverage_counts_all_goals_batch_by_batch():
    def past(surprise: float, batch: int) -> Past:
        return Past(mean=0.0, sd=1.0, members={}, result=surprise, batch=batch)

    found = dict(covered_by_batch([[past(0.0, 1), past(0.1, 2)], [past(9.0, 1), past(0.0, 2)]], 0.9))
    assert found == {1: 0.5, 2: 0.75}
