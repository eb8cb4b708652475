# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from glossary import Article, Glossary
from glossary.entry import Entry

GLOSSARY = Glossary(
    [
        Entry("C", "/c"),
        Entry("C++", "/cpp", ("cpp",)),
        Entry("data", "/data"),
        Entry("data base", "/db", ("database",)),
        Entry(".NET", "/dotnet"),
        Entry("net", "/net"),
    ]
)


def test_words():
    text = "A data base holds data. Metadata do not count; another Database does not either."
    assert Article(text, GLOSSARY).linked() == (
        "A [data base](/db) holds [data](/data). Metadata do not count; another Database does not either."
    )


def test_languages():
    text = "Written in C++ on .NET, not in C."
    assert Article(text, GLOSSARY).linked() == "Written in [C++](/cpp) on [.NET](/dotnet), not in [C](/c)."


def test_white_space():
    assert Article("the DATA\n base", GLOSSARY).terms() == ["data base"]


def test_empty():
    assert Article("C and data", Glossary()).linked() == "C and data"
