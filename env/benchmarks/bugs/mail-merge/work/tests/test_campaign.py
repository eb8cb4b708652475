# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from merge.campaign import Campaign

TABLE = "name;mail;company\nAnn;ann@x.org;Tea & Co\nBob\nCy;cy@y.org\n"


def test_mails():
    mails = Campaign("For [name]", "Dear [name], 20% off!").mails(TABLE)
    assert [m.to for m in mails] == ["ann@x.org", "cy@y.org"]
    assert mails[0].subject == "For Ann"
    assert mails[1].body == "Dear Cy, 20% off!\n--\nTo Cy at home. Sent 2 of 2."


def test_company_with_per_cent():
    table = "name;mail;company\nAnn;a@x.org;Tea\nDi;di@c.org;100% Cotton Ltd\n"
    assert Campaign("Hi", "Dear [name|friend]").mails(table)[1].body == (
        "Dear Di\n--\nTo Di at 100% Cotton Ltd. Sent 2 of 2."
    )


def test_unknown_fields():
    assert Campaign("[name]", "[nmae] [city|]").unknown_fields([{"name": "x"}]) == ["city", "nmae"]
