# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Effects. Levels are in 256ths: 256 leaves a sound as it is, 128 makes it half as loud."""
from __future__ import annotations

from .samples import UNIT, Samples, clip, scaled


def gain(sound: Samples, level: int) -> Samples:
    """The sound made louder or softer."""
    return [clip(scaled(sample, level)) for sample in sound]


def fade_out(sound: Samples, length: int) -> Samples:
    """The sound with its last `length` samples fading; the very last one is silent."""
    start = max(0, len(sound) - length)
    tail = sound[start:]
    faded = [scaled(sample, len(tail) - 1 - i, len(tail)) for i, sample in enumerate(tail)]
    return sound[:start] + faded


def echo(sound: Samples, delay: int, level: int = UNIT // 2) -> Samples:
    """The sound and what comes back of it, again and again, as long as the sound lasts."""
    result = list(sound)
    for index in range(delay, len(result)):
        result[index] = clip(result[index] + scaled(result[index - delay], level))
    return result
