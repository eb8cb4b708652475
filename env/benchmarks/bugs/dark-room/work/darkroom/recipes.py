# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Recipes: for each bath what a litre takes, in grams."""
from __future__ import annotations

from typing import Dict

BATHS: Dict[str, Dict[str, float]] = {
    "selenium toner": {
        "selenious acid": 4.0,
        "sulphite": 150.0,
        "sal ammoniac": 100.0,
    },
    "scalp cream": {
        "selenium sulphide": 25.0,
        "citric acid": 10.0,
        "glycerine": 200.0,
    },
    "developer": {
        "metol": 2.0,
        "sulphite": 25.0,
        "hydroquinone": 4.0,
        "soda": 18.0,
        "potassium bromide": 2.0,
    },
    "fixer": {
        "hypo": 240.0,
        "bisulphite": 10.0,
    },
    "plain fixer": {
        "hypo": 250.0,
    },
    "stop bath": {
        "acetic acid": 15.0,
    },
    "bleach bath": {
        "red prussiate": 8.0,
        "potassium bromide": 12.0,
    },
    "sepia toner": {
        "sulphite": 20.0,
        "lye": 5.0,
    },
    "gold toner": {
        "gold chloride": 1.0,
        "borax": 10.0,
    },
    "platinum toner": {
        "platinum chloride": 2.0,
        "phosphoric acid": 15.0,
    },
    "palladium toner": {
        "palladium chloride": 2.0,
        "salt": 5.0,
    },
    "cyanotype a": {
        "ferric ammonium citrate": 25.0,
    },
    "cyanotype b": {
        "red prussiate": 10.0,
    },
    "reducer": {
        "permanganate": 1.0,
        "sulphuric acid": 10.0,
    },
    "intensifier": {
        "dichromate": 9.0,
        "hydrochloric acid": 6.0,
    },
    "cadmium ground": {
        "cadmium red": 12.0,
        "zinc white": 30.0,
    },
    "yellow ground": {
        "cadmium yellow": 12.0,
        "titanium white": 30.0,
    },
    "blue ground": {
        "cobalt blue": 20.0,
        "zinc white": 30.0,
    },
    "red ground": {
        "red lead": 15.0,
        "chalk": 10.0,
    },
    "green ground": {
        "malachite": 10.0,
        "verdigris": 10.0,
    },
    "glaze one": {
        "quartz": 40.0,
        "feldspar": 20.0,
        "tin oxide": 10.0,
    },
    "glaze two": {
        "quartz": 40.0,
        "kaolin": 20.0,
        "red lead": 15.0,
    },
    "glaze three": {
        "quartz": 30.0,
        "talc": 20.0,
        "borax": 12.0,
    },
    "ruby glass": {
        "quartz": 300.0,
        "potash": 60.0,
        "cadmium red": 1.0,
    },
    "soft soap": {
        "potash": 100.0,
        "alcohol": 50.0,
    },
    "bath salt": {
        "epsom salt": 400.0,
        "baking soda": 50.0,
    },
}
