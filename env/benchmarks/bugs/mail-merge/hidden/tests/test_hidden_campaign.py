# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from merge.campaign import Campaign
from merge.footer import Footer


@pytest.mark.parametrize("company", ["%", "%s", "50%d", "%%", "5 %", "%(name)s", "a%b%c", "100% Cotton Ltd"])
def test_any_company(company):
    mails = Campaign("To [company]", "[company]!").mails("mail;company\nm@x;" + company + "\n")
    assert mails[0].subject == "To " + company
    assert mails[0].body == company + "!\n--\nTo you at " + company + ". Sent 1 of 1."


def test_own_footer():
    footer = Footer("[name], 5%% cheaper (%d/%d)")
    assert footer.make({"name": "%d"}, 3, 4) == "%d, 5% cheaper (3/4)"


def test_numbers_count_mails_only():
    mails = Campaign("s", "b").mails("mail\na\nb\nc\n")
    assert [m.body.split("Sent ")[1] for m in mails] == ["1 of 3.", "2 of 3.", "3 of 3."]


def test_empty_table():
    assert Campaign("s", "b").mails("") == []
    assert Campaign("s", "b").mails("name;mail\n") == []
