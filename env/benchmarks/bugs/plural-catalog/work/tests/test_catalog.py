# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from catalog import Catalog

POLISH = Catalog("pl", {"files": ["{n} plik", "{n} pliki", "{n} plików"], "hi": "Cześć, {name}!"})
RUSSIAN = Catalog("ru", {"files": ["{n} файл", "{n} файла", "{n} файлов"]})


@pytest.mark.parametrize("n, text", [(1, "1 plik"), (3, "3 pliki"), (5, "5 plików"), (12, "12 plików"), (22, "22 pliki")])
def test_polish(n, text):
    assert POLISH.count("files", n) == text


@pytest.mark.parametrize("n, text", [(112, "112 plików"), (1014, "1014 plików")])
def test_large_polish(n, text):
    assert POLISH.count("files", n) == text


def test_russian():
    assert RUSSIAN.count("files", 21) == "21 файл"
    assert RUSSIAN.count("files", 11) == "11 файлов"


def test_other_messages():
    assert POLISH.text("hi", name="Ola") == "Cześć, Ola!"
    assert POLISH.count("unknown", 3) == "unknown"
    assert Catalog("fr", {"f": ["{n} fichier", "{n} fichiers"]}).count("f", 0) == "0 fichier"
