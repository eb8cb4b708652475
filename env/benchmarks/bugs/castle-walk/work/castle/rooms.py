# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The castle: for each room its name, where its doors lead, and with a star what lies in it."""
from __future__ import annotations

ROOMS = """
dark_vault: Dark Vault
    south red_stair
blue_chamber: Blue Chamber
    east small_bridge
    south mirror_chamber
small_bridge: Small Bridge
    south painted_vault
    west blue_chamber
dark_library: Dark Library
    east broken_kitchen
broken_kitchen: Broken Kitchen
    east small_hall
    west dark_library
small_hall: Small Hall
    east great_passage
    south broken_tower
    west broken_kitchen
    * cup
great_passage: Great Passage
    east lower_cellar
    west small_hall
    * shield
lower_cellar: Lower Cellar
    south stone_loft
    west great_passage
green_stair: Green Stair
    east silver_chapel
    south small_loft
    * rose
silver_chapel: Silver Chapel
    south stone_hall
    west green_stair
north_cellar: North Cellar
    east new_armoury
    south inner_chapel
new_armoury: New Armoury
    east lower_tower
    west north_cellar
lower_tower: Lower Tower
    west new_armoury
red_stair: Red Stair
    north dark_vault
    south stone_vault
mirror_chamber: Mirror Chamber
    north blue_chamber
    south new_passage
painted_vault: Painted Vault
    north small_bridge
    east south_stair
    * bell
south_stair: South Stair
    east small_library
    west painted_vault
small_library: Small Library
    east broken_tower
    west south_stair
broken_tower: Broken Tower
    north small_hall
    west small_library
red_library: Red Library
    south dark_court
stone_loft: Stone Loft
    north lower_cellar
    east small_loft
small_loft: Small Loft
    north green_stair
    west stone_loft
stone_hall: Stone Hall
    north silver_chapel
    south low_chapel
inner_chapel: Inner Chapel
    north north_cellar
    east mirror_cellar
    south great_tower
mirror_cellar: Mirror Cellar
    east green_hall
    west inner_chapel
green_hall: Green Hall
    south blue_stair
    west mirror_cellar
stone_vault: Stone Vault
    north red_stair
    east new_passage
    south low_armoury
new_passage: New Passage
    north mirror_chamber
    east south_chapel
    south painted_tower
    west stone_vault
south_chapel: South Chapel
    east north_hall
    south upper_loft
    west new_passage
north_hall: North Hall
    east outer_chapel
    south cold_cellar
    west south_chapel
outer_chapel: Outer Chapel
    east north_gallery
    west north_hall
north_gallery: North Gallery
    south high_court
    west outer_chapel
    * map
dark_court: Dark Court
    north red_library
    east great_garden
    * coin
great_garden: Great Garden
    east silver_chamber
    west dark_court
silver_chamber: Silver Chamber
    east low_chapel
    south lower_kitchen
    west great_garden
low_chapel: Low Chapel
    north stone_hall
    south painted_passage
    west silver_chamber
great_tower: Great Tower
    north inner_chapel
    east great_chamber
great_chamber: Great Chamber
    south inner_kitchen
    west great_tower
blue_stair: Blue Stair
    north green_hall
    south painted_cellar
low_armoury: Low Armoury
    north stone_vault
    south blue_cellar
    * book
painted_tower: Painted Tower
    north new_passage
    east upper_loft
upper_loft: Upper Loft
    north south_chapel
    south inner_armoury
    west painted_tower
cold_cellar: Cold Cellar
    north north_hall
    east great_vault
    south lower_chamber
great_vault: Great Vault
    south green_armoury
    west cold_cellar
high_court: High Court
    north north_gallery
    east new_kitchen
new_kitchen: New Kitchen
    east new_garden
    south silver_gallery
    west high_court
new_garden: New Garden
    east lower_kitchen
    west new_kitchen
    * drum
lower_kitchen: Lower Kitchen
    north silver_chamber
    south inner_garden
    west new_garden
painted_passage: Painted Passage
    north low_chapel
    east north_chamber
north_chamber: North Chamber
    east inner_kitchen
    west painted_passage
inner_kitchen: Inner Kitchen
    north great_chamber
    east painted_cellar
    west north_chamber
    * rope
painted_cellar: Painted Cellar
    north blue_stair
    south blue_bridge
    west inner_kitchen
blue_cellar: Blue Cellar
    north low_armoury
    south long_hall
south_chamber: South Chamber
    east inner_armoury
    south high_library
inner_armoury: Inner Armoury
    north upper_loft
    east lower_chamber
    west south_chamber
    * crown
lower_chamber: Lower Chamber
    north cold_cellar
    west inner_armoury
green_armoury: Green Armoury
    north great_vault
    east dusty_vault
dusty_vault: Dusty Vault
    south small_chapel
    west green_armoury
silver_gallery: Silver Gallery
    north new_kitchen
    east old_tower
    south long_armoury
old_tower: Old Tower
    west silver_gallery
inner_garden: Inner Garden
    north lower_kitchen
    east cold_armoury
cold_armoury: Cold Armoury
    east small_cellar
    south lower_bridge
    west inner_garden
small_cellar: Small Cellar
    east inner_hall
    west cold_armoury
inner_hall: Inner Hall
    south red_kitchen
    west small_cellar
blue_bridge: Blue Bridge
    north painted_cellar
    south upper_cellar
long_hall: Long Hall
    north blue_cellar
    south cold_vault
high_library: High Library
    north south_chamber
    east upper_chapel
    * key
upper_chapel: Upper Chapel
    east stone_stair
    west high_library
stone_stair: Stone Stair
    east small_chamber
    south outer_kitchen
    west upper_chapel
small_chamber: Small Chamber
    east small_chapel
    west stone_stair
    * mask
small_chapel: Small Chapel
    north dusty_vault
    east long_armoury
    west small_chamber
long_armoury: Long Armoury
    north silver_gallery
    west small_chapel
high_gallery: High Gallery
    east stone_gallery
    south inner_vault
stone_gallery: Stone Gallery
    east lower_bridge
    west high_gallery
lower_bridge: Lower Bridge
    north cold_armoury
    west stone_gallery
dusty_loft: Dusty Loft
    east red_kitchen
    south upper_passage
red_kitchen: Red Kitchen
    north inner_hall
    west dusty_loft
upper_cellar: Upper Cellar
    north blue_bridge
    south long_gallery
    * sword
cold_vault: Cold Vault
    north long_hall
    south red_armoury
old_passage: Old Passage
    east south_hall
    south north_garden
south_hall: South Hall
    south cold_stair
    west old_passage
outer_kitchen: Outer Kitchen
    north stone_stair
broken_gallery: Broken Gallery
    east inner_loft
    south south_armoury
inner_loft: Inner Loft
    east silent_vault
    west broken_gallery
silent_vault: Silent Vault
    east inner_vault
    south high_armoury
    west inner_loft
inner_vault: Inner Vault
    north high_gallery
    south blue_armoury
    west silent_vault
low_hall: Low Hall
    east lower_loft
    south long_passage
lower_loft: Lower Loft
    east upper_passage
    south long_court
    west low_hall
upper_passage: Upper Passage
    north dusty_loft
    east upper_stair
    south great_cellar
    west lower_loft
upper_stair: Upper Stair
    south green_loft
    west upper_passage
long_gallery: Long Gallery
    north upper_cellar
    south great_loft
red_armoury: Red Armoury
    north cold_vault
    east north_garden
north_garden: North Garden
    north old_passage
    west red_armoury
    * lamp
cold_stair: Cold Stair
    north south_hall
    east cold_chapel
cold_chapel: Cold Chapel
    east south_armoury
    west cold_stair
south_armoury: South Armoury
    north broken_gallery
    west cold_chapel
    * flute
green_gallery: Green Gallery
    east red_armoury
high_armoury: High Armoury
    north silent_vault
    east blue_armoury
    west green_gallery
blue_armoury: Blue Armoury
    north inner_vault
    east long_passage
    west high_armoury
long_passage: Long Passage
    north low_hall
    west blue_armoury
    * ring
long_court: Long Court
    north lower_loft
    east great_cellar
great_cellar: Great Cellar
    north upper_passage
    east green_loft
    west long_court
green_loft: Green Loft
    north upper_stair
    east great_loft
    west great_cellar
great_loft: Great Loft
    north long_gallery
    west green_loft
"""
GATE = "dark_vault"
