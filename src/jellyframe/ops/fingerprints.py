"""Keys for fingerprints of terms and statements, which the kernel computes.

With a random key, two statements with the same fingerprint cannot be constructed, which deduplication and patches rely
on. With a key that follows from a seed, fingerprints are the same in every process.
"""

from __future__ import annotations

import os
from hashlib import blake2b

from jellyframe.kernel.fingerprint_cy import Fingerprints

_KEY_BYTES = 16


def random_fingerprints() -> Fingerprints:
    """Return fingerprints with a random key: only those of one process can be compared."""
    return Fingerprints(os.urandom(_KEY_BYTES))


def seeded_fingerprints(seed: int) -> Fingerprints:
    """Return fingerprints that depend on a seed only. Those of different seeds are independent of each other."""
    return Fingerprints(blake2b(str(seed).encode(), digest_size=_KEY_BYTES).digest())
