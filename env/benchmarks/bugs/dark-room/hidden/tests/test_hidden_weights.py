# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from decimal import Decimal

import pytest

from darkroom import bath, from_moles, mole, moles, share
from darkroom.elements import ELEMENTS
from darkroom.label import label, short
from darkroom.shelf import SHELF

MOLES = {
    "water": "18.0150",
    "salt": "58.4400",
    "soda": "105.9880",
    "baking soda": "84.0060",
    "lye": "39.9970",
    "potash": "138.2040",
    "saltpetre": "101.1020",
    "lime": "56.0770",
    "slaked lime": "74.0920",
    "chalk": "100.0860",
    "gypsum": "172.1640",
    "plaster": "290.2830",
    "alum": "474.3720",
    "borax": "381.3630",
    "epsom salt": "246.4660",
    "magnesia": "40.3040",
    "green vitriol": "278.0060",
    "blue vitriol": "249.6770",
    "white vitriol": "287.5410",
    "rust": "159.6870",
    "magnetite": "231.5310",
    "pyrite": "119.9650",
    "galena": "239.2600",
    "cinnabar": "232.6500",
    "red lead": "685.5960",
    "white lead": "775.6300",
    "litharge": "223.1990",
    "malachite": "221.1140",
    "azurite": "344.6680",
    "verdigris": "181.6340",
    "zinc white": "81.3790",
    "titanium white": "79.8650",
    "cobalt blue": "176.8930",
    "chrome yellow": "323.1920",
    "cadmium yellow": "144.4700",
    "cadmium red": "527.2320",
    "prussian blue": "859.2390",
    "vermilion": "232.6500",
    "orpiment": "246.0240",
    "realgar": "427.9280",
    "selenium sulphide": "143.0910",
    "selenious acid": "128.9840",
    "tin oxide": "150.7080",
    "silver nitrate": "169.8740",
    "silver bromide": "187.7740",
    "hypo": "248.1720",
    "hydroquinone": "110.1120",
    "metol": "344.3820",
    "potassium bromide": "119.0020",
    "sulphite": "126.0370",
    "bisulphite": "104.0550",
    "citric acid": "192.1230",
    "tartaric acid": "150.0860",
    "oxalic acid": "90.0340",
    "acetic acid": "60.0520",
    "sugar": "342.2970",
    "glucose": "180.1560",
    "alcohol": "46.0690",
    "glycerine": "92.0940",
    "urea": "60.0560",
    "ammonia": "17.0310",
    "sal ammoniac": "53.4890",
    "hydrochloric acid": "36.4580",
    "nitric acid": "63.0120",
    "sulphuric acid": "98.0720",
    "phosphoric acid": "97.9940",
    "permanganate": "158.0320",
    "dichromate": "294.1810",
    "red prussiate": "329.2470",
    "yellow prussiate": "422.3900",
    "ferric ammonium citrate": "264.9990",
    "gold chloride": "339.7780",
    "platinum chloride": "415.0760",
    "palladium chloride": "177.3200",
    "lithium hydroxide": "23.9470",
    "barium sulphate": "233.3860",
    "strontium nitrate": "211.6280",
    "bismuth nitrate": "394.9920",
    "antimony sulphide": "339.7000",
    "tungsten trioxide": "231.8370",
    "molybdate": "205.9260",
    "vanadate": "116.9780",
    "iodine": "253.8000",
    "iodide": "165.9980",
    "bleach": "74.4390",
    "chlorate": "122.5450",
    "quartz": "60.0830",
    "water glass": "122.0620",
    "kaolin": "258.1570",
    "feldspar": "278.3270",
    "talc": "379.2590",
}


def test_every_substance_on_the_shelf() -> None:
    assert {name: mole(formula) for name, formula in SHELF.items()} == {n: Decimal(w) for n, w in MOLES.items()}


@pytest.mark.parametrize(
    "substance, percent",
    [("selenium sulphide", "55.19"), ("selenious acid", "61.23"), ("cadmium red", "29.96")],
)
def test_share(substance: str, percent: str) -> None:
    assert share(SHELF[substance], "Se") == Decimal(percent)


def test_there_and_back() -> None:
    for name in ("selenium toner", "scalp cream", "ruby glass", "developer"):
        made = bath(name)
        amounts = {part: str(amount) for part, amount in moles(made).items()}
        back = from_moles(name, amounts)
        for part, grams in made.grams.items():
            assert abs(back.grams[part] - grams) < Decimal("0.005"), (name, part)


def test_scalp_cream_in_moles() -> None:
    assert moles(bath("scalp cream"))["selenium sulphide"] == Decimal("174.71")
    assert from_moles("cream", {"selenium sulphide": "175"}).weight == Decimal("25.041")


def test_elements_are_in_order() -> None:
    assert [number for _, _, number, _ in ELEMENTS] == list(range(1, 84))
    lighter = [one[0] for one, two in zip(ELEMENTS, ELEMENTS[1:]) if Decimal(one[3]) > Decimal(two[3])]
    assert lighter == ['Ar', 'Co', 'Te']


def test_what_is_missing() -> None:
    from darkroom.cupboard import missing
    from darkroom.stock import STOCK

    assert missing(bath("fixer", "0.01")) == {}
    assert set(missing(bath("fixer", "1000"))) == {"hypo", "bisulphite"}
    assert set(STOCK) == set(SHELF)


def test_labels() -> None:
    assert label(bath("fixer"))[1].split() == ["hypo", "240.000", "g"]
    assert short("plaster") == "H\u2082Ca\u2082O\u2089S\u2082"
