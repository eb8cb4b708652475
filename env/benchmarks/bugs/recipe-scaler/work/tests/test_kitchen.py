# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from kitchen.recipe import Recipe, shopping_list

PANCAKES = """Pancakes (4)
200 g flour
1/2 l milk
3 eggs
"""
SOUP = """Leek soup (2)
2 leeks
3/4 l stock
salt
"""


def test_scale_pancakes():
    assert Recipe.parse(PANCAKES).scale_to(6).lines() == ["300 g flour", "3/4 l milk", "4 1/2 eggs"]


def test_shopping_list():
    recipes = [Recipe.parse(PANCAKES), Recipe.parse(PANCAKES), Recipe.parse(SOUP)]
    assert shopping_list(recipes) == ["400 g flour", "1 l milk", "6 eggs", "2 leeks", "3/4 l stock", "salt"]


def test_scale_soup():
    soup = Recipe.parse(SOUP).scale_to(4)
    assert soup.servings == 4
    assert soup.lines()[:2] == ["4 leeks", "1 1/2 l stock"]
