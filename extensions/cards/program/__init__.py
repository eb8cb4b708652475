"""The program of a card, on pandas and SciPy alone. A card contains these modules as one file, `derive.py`.

So a module imports nothing else of stackrank, and no two modules define the same name."""
