# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What can be made, of what: a line for each recipe (how many come of it, where, in how many minutes), then what it takes."""
from __future__ import annotations

RECIPES = """
plank x4 at saw in 1
    1 log
stick x4 at saw in 1
    2 plank
beam x1 at saw in 2
    2 log
charcoal x2 at kiln in 6
    3 log
brick x4 at kiln in 5
    4 clay
    1 coal
glass x2 at kiln in 5
    3 sand
    1 coal
tile x6 at kiln in 5
    3 clay
    1 charcoal
pot x1 at kiln in 4
    2 clay
    1 charcoal
iron x1 at furnace in 4
    2 iron_ore
    1 coal
copper x1 at furnace in 3
    2 copper_ore
    1 coal
tin x1 at furnace in 3
    2 tin_ore
    1 coal
gold x1 at furnace in 5
    3 gold_ore
    2 coal
bronze x3 at furnace in 4
    2 copper
    1 tin
    1 charcoal
steel x1 at furnace in 8
    2 iron
    3 charcoal
nail x12 at anvil in 1
    1 iron
wire x6 at anvil in 2
    1 copper
hinge x2 at anvil in 2
    1 iron
    2 nail
chain x2 at anvil in 3
    2 iron
hook x2 at anvil in 1
    1 iron
ring x1 at anvil in 3
    1 gold
gear x1 at anvil in 4
    2 bronze
spring x1 at anvil in 4
    1 steel
blade x1 at anvil in 5
    2 steel
axle x1 at anvil in 3
    1 steel
    1 resin
yarn x3 at wheel in 2
    2 wool
cloth x1 at loom in 3
    4 yarn
rope x2 at wheel in 2
    6 net
net x1 at loom in 4
    3 rope
canvas x1 at loom in 4
    8 reed
    1 yarn
felt x1 at loom in 3
    4 wool
leather x1 at vat in 6
    2 hide
    1 salt
    2 water
paper x4 at vat in 3
    3 reed
    1 water
glue x2 at vat in 4
    2 bone
    1 water
ink x2 at vat in 2
    3 berry
    1 coal
    1 water
wax x2 at vat in 2
    2 honey
dye x2 at vat in 2
    2 berry
    1 shell
varnish x1 at vat in 3
    2 resin
    1 honey
soap x2 at vat in 3
    1 bone
    1 charcoal
    1 herb
flour x2 at mill in 2
    3 wheat
butter x1 at churn in 3
    3 milk
cheese x1 at churn in 9
    4 milk
    1 salt
bread x1 at oven in 5
    2 flour
    1 water
    1 salt
cake x1 at oven in 6
    3 flour
    2 egg
    1 butter
    1 honey
pie x1 at oven in 6
    2 flour
    1 butter
    4 berry
stew x2 at oven in 7
    2 fish
    1 herb
    1 salt
    2 water
    1 pot
candle x3 at bench in 2
    2 wax
    1 yarn
powder x2 at bench in 2
    1 sulphur
    3 saltpetre
    2 charcoal
axe x1 at bench in 2
    1 blade
    1 stick
    1 rope
hammer x1 at bench in 2
    2 iron
    1 stick
knife x1 at bench in 2
    1 blade
    1 hide
saw_blade x1 at anvil in 4
    2 steel
    1 nail
bow x1 at bench in 3
    3 stick
    1 rope
arrow x8 at bench in 2
    1 flint
    1 stick
    2 feather
door x1 at bench in 3
    6 plank
    2 hinge
    8 nail
chest x1 at bench in 3
    8 plank
    2 hinge
    10 nail
barrel x1 at bench in 4
    7 plank
    1 ring
ladder x2 at bench in 2
    7 stick
    6 nail
table x1 at bench in 3
    4 plank
    4 stick
    6 nail
bed x1 at bench in 4
    4 plank
    3 cloth
    1 felt
lantern x1 at bench in 3
    2 glass
    1 candle
    2 wire
window x1 at bench in 3
    4 glass
    4 stick
    1 glue
book x1 at bench in 3
    8 paper
    1 leather
    1 glue
    1 ink
map x1 at bench in 4
    2 paper
    2 ink
    1 wax
compass x1 at bench in 5
    1 iron
    1 copper
    1 glass
    2 wire
clock x1 at bench in 9
    3 gear
    2 spring
    1 glass
    1 gold
lock x1 at bench in 5
    1 gear
    1 spring
    1 iron
safe x1 at bench in 8
    6 steel
    1 lock
    2 hinge
cart_wheel x1 at bench in 4
    1 beam
    6 stick
    8 nail
cart x1 at bench in 8
    2 cart_wheel
    1 axle
    10 plank
    2 rope
wagon x1 at bench in 12
    4 cart_wheel
    2 axle
    4 beam
    12 plank
    3 canvas
sail x1 at bench in 6
    6 canvas
    4 rope
anchor x1 at anvil in 6
    6 iron
    3 chain
hull x1 at yard in 20
    12 beam
    40 plank
    120 nail
    12 resin
mast x1 at yard in 6
    4 beam
    6 rope
rudder x1 at yard in 6
    6 plank
    2 hinge
    1 axle
boat x1 at yard in 25
    1 hull
    1 rudder
    4 rope
    4 varnish
ship x1 at yard in 60
    2 hull
    3 mast
    4 sail
    1 rudder
    2 anchor
    1 compass
    4 lantern
crane x1 at yard in 14
    6 beam
    4 gear
    8 rope
    1 hook
    2 chain
mill_stone x2 at bench in 4
    4 stone
mill_house x1 at yard in 30
    2 mill_stone
    8 beam
    20 plank
    4 gear
    30 brick
    20 tile
well x1 at yard in 8
    12 stone
    10 brick
    4 rope
    1 crane
tower x1 at yard in 40
    80 stone
    10 beam
    4 window
    1 door
    12 tile
    1 clock
bell x1 at furnace in 8
    8 bronze
    2 tin
organ x1 at bench in 50
    20 tin
    4 leather
    12 plank
    24 spring
    6 gear
lighthouse x1 at yard in 70
    1 tower
    6 lantern
    4 mirror
mirror x1 at bench in 6
    2 glass
    1 silver_leaf
silver_leaf x2 at anvil in 6
    2 tin
    1 gold
shirt x1 at bench in 3
    2 cloth
    1 yarn
coat x1 at bench in 5
    3 cloth
    2 felt
    4 bone
boots x1 at bench in 4
    3 leather
    8 nail
    1 wax
gloves x1 at bench in 2
    1 leather
    1 yarn
hat x1 at bench in 3
    2 felt
    3 feather
belt x1 at bench in 2
    1 leather
    1 hinge
bag x1 at bench in 3
    1 canvas
    1 leather
    2 yarn
tent x1 at bench in 6
    6 canvas
    8 stick
    4 rope
flag x1 at bench in 2
    2 cloth
    2 dye
    1 stick
carpet x1 at loom in 12
    16 yarn
    4 dye
necklace x1 at bench in 4
    7 pearl
    1 wire
crown x1 at anvil in 9
    3 gold
    5 pearl
    2 amber
comb x1 at bench in 2
    1 shell
    1 glue
harp x1 at bench in 9
    1 beam
    4 wire
    1 varnish
flute x1 at bench in 3
    1 stick
    1 varnish
drum x1 at bench in 4
    2 hide
    3 plank
    1 rope
toy x2 at bench in 2
    2 stick
    1 dye
"""
RAW = (
    "log",
    "stone",
    "sand",
    "clay",
    "flint",
    "iron_ore",
    "copper_ore",
    "tin_ore",
    "gold_ore",
    "coal",
    "wool",
    "hide",
    "resin",
    "reed",
    "berry",
    "wheat",
    "milk",
    "egg",
    "fish",
    "salt",
    "herb",
    "honey",
    "feather",
    "bone",
    "shell",
    "amber",
    "pearl",
    "sulphur",
    "saltpetre",
    "water",
)
"""What is found, and not made."""
