"""Keys for fingerprints of terms and statements, which the kernel computes.

With a random key, two statements with the same fingerprint cannot be constructed, which deduplication and patches rely
on. With a key made from a seed, fingerprints are the same in every process.
"""

from __future__ import annotations

import os
from hashlib import blake2b

from jellyframe.kernel.fingerprint_cy import Fingerprints

_KEY_BYTES = 16


def random_fingerprints() -> Fingerprints:
    """Return fingerprints with a random key, which can be compared only within this process."""
    return Fingerprints(os.urandom(_KEY_BYTES))


def seeded_fingerprints(seed: int) -> Fingerprints:
    """Return fingerprints that depend only on a seed. Those of different seeds are independent."""
    return Fingerprints(blake2b(str(seed).encode(), digest_size=_KEY_BYTES).digest())
