# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from kitchen.recipe import Ingredient, Recipe, shopping_list

SALAD = "Salad (3)\n1 1/2 cup cress\nolive oil\n1 tsp salt\npepper\n"


def test_all_ingredients_are_kept():
    assert Recipe.parse(SALAD).scale_to(6).lines() == ["3 cup cress", "olive oil", "2 tsp salt", "pepper"]


def test_scaling_down():
    assert Recipe.parse(SALAD).scale_to(1).lines() == ["1/2 cup cress", "olive oil", "1/3 tsp salt", "pepper"]


def test_scaled_recipe_in_shopping_list():
    recipes = [Recipe.parse(SALAD).scale_to(6), Recipe.parse("Dip (1)\n1/4 cup cress\npepper\n").scale_to(2)]
    assert shopping_list(recipes) == ["3 1/2 cup cress", "olive oil", "2 tsp salt", "pepper"]


def test_amount_given_in_only_one_recipe():
    some, any_ = Recipe.parse("A (1)\n5 g salt\n"), Recipe.parse("B (1)\nsalt\n")
    assert shopping_list([some, any_]) == ["5 g salt", "salt"]
    eggs, more = Recipe.parse("C (1)\n2 eggs\n"), Recipe.parse("D (1)\neggs\n")
    assert shopping_list([more, eggs]) == shopping_list([eggs, more]) == ["2 eggs"]


def test_ingredient_without_amount():
    assert Ingredient.parse("bay leaf").scaled(2) == Ingredient("bay leaf")


def test_bad_servings():
    with pytest.raises(ValueError):
        Recipe.parse(SALAD).scale_to(0)
