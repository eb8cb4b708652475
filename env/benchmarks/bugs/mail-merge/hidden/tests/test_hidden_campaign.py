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


@pytest.mark.parametrize("value", ["[name]", "[company|x]", "%d", "%", "100% [name] %s", "\\1", "{0}", "[]"])
def test_values_are_written_as_they_are(value):
    table = f"mail;company;name\nm@x;{value};Ann\nn@x;;{value}\nl@x;{value}\n"
    mails = Campaign("[name|you]: [company]", "Dear [name|friend]").mails(table)
    assert [mail.subject for mail in mails] == [f"Ann: {value}", f"{value}: ", f"you: {value}"]
    assert [mail.body for mail in mails] == [
        f"Dear Ann\n--\nTo Ann at {value}. Sent 1 of 3.",
        f"Dear {value}\n--\nTo {value} at home. Sent 2 of 3.",
        f"Dear friend\n--\nTo you at {value}. Sent 3 of 3.",
    ]


def test_footer_with_signs_of_its_own():
    assert Footer("%d/%d: [a|none] 5%%").make({"a": "7%%"}, 1, 2) == "1/2: 7%% 5%"
    assert Footer("[a]%d[b]%d").make({"a": "%d", "b": "%%"}, 1, 2) == "%d1%%2"
    assert Campaign("[x] [mail]", "[y|z]").unknown_fields([{"mail": ""}]) == ["x", "y"]
