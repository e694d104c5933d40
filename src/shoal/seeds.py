"""Seeds: where the randomness of a run comes from, and how it is kept private.

Whoever knows the seed of a run can repeat it on tables of their own making and see which of them give
the published release. A seed that nobody chose is therefore drawn at random, and what leaves with a
release holds only a commitment to it: a hash together with a random salt, which reveals nothing of the
seed and can be checked by whoever has both.

Numbers are derived from large seeds by a keyed hash (BLAKE2b, RFC 7693), so that every one depends on
the whole seed. Seeds below `LARGE` keep the arithmetic that they always had: they give the same
releases as before.
"""

import hashlib
import json
import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path

from shoal.errors import InputError

LARGE = 2**64
"""From here on, numbers are derived from a seed by a keyed hash."""
LIMIT = 2**256
"""Seeds are below this number."""
BITS = 128
"""Random bits of a drawn seed."""
SALT_BYTES = 32
KIND = "shoal seed"
"""What a seed file says that it is."""
POLICY = "shoal policy"
"""What a commitment to a policy begins with."""


def draw() -> int:
    """A random seed; all have the same number of digits."""
    return 2**BITS + secrets.randbits(BITS)


def derived(seed: int, use: str, *numbers: int) -> int:
    """A large seed for one use, and for one round or block of it; it depends on the whole seed."""
    return 2**BITS + int.from_bytes(_hash(seed, use, numbers), "little")


def key_words(seed: int, use: str) -> tuple[int, int]:
    """Two words of 64 bits: the key of a large seed for one use."""
    digest = _hash(seed, use, ())
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def _hash(seed: int, use: str, numbers: tuple[int, ...]) -> bytes:
    """16 bytes."""
    key = seed.to_bytes(LIMIT.bit_length() // 8, "little")
    content = json.dumps([use, *numbers]).encode()
    return hashlib.blake2b(content, key=key, digest_size=16).digest()


@dataclass(frozen=True)
class Seed:
    """The seed of a run with the salt of its commitment. Neither is shown by `repr`."""

    value: int = field(repr=False)
    salt: str = field(default_factory=lambda: secrets.token_hex(SALT_BYTES), repr=False)
    """In hex."""
    drawn: bool = False
    """Whether the run drew it, because nobody gave one."""
    file: Path | None = None
    """The private file that holds it."""

    @property
    def commitment(self) -> str:
        """A hash that fits this seed and salt alone, and that reveals nothing of either."""
        content = f"{KIND}:{self.salt}:{self.value}"
        return hashlib.sha256(content.encode()).hexdigest()

    def committed(self, digest: str) -> str:
        """A hash that fits a policy of this digest and the salt alone: without the salt no policy can be
        compared with it, not even a guessed one."""
        return hashlib.sha256(f"{POLICY}:{self.salt}:{digest}".encode()).hexdigest()

    def to_text(self) -> str:
        """The content of a seed file."""
        # as text: a number of so many digits would be rounded by many readers of JSON
        found = {"kind": KIND, "seed": str(self.value), "salt": self.salt}
        return json.dumps(found | {"commitment": self.commitment}, indent=1) + "\n"


def choose(given: int | None, file: Path | None = None) -> Seed:
    """The seed of a run: that of the file if it exists, else the given one, else a random one.

    Raises
    ------
    InputError
        If the file is no seed file, or holds another seed than the one given.
    """
    if file is not None and file.exists():
        kept = read(file)
        if given is not None and given != kept.value:
            raise InputError(
                f"{file} holds another seed than the policy or --seed. Remove the seed there, or name "
                "another seed file."
            )
        return kept
    if given is None:
        return Seed(draw(), drawn=True, file=file)
    return Seed(given, file=file)


def read(file: Path) -> Seed:
    """The seed in a private file; raises `InputError` where it is none."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{file}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InputError(f"{file} cannot be read: {reason}.") from None
    wrong = f"{file} is no seed file. Name the file that `shoal run --seed-file` wrote."
    try:
        found = json.loads(text)
        if not isinstance(found, dict) or found.get("kind") != KIND:
            raise InputError(wrong)
        seed = Seed(int(found["seed"]), str(found["salt"]), file=file)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(wrong) from None
    if not 0 <= seed.value < LIMIT or found.get("commitment") != seed.commitment:
        raise InputError(f"{file} was changed: its seed and salt do not fit its commitment.")
    return seed


def seed_warnings(seed: Seed) -> list[str]:
    """A warning where others than its owner may read the file of a seed."""
    if seed.file is None or os.name != "posix" or not seed.file.exists():
        return []
    mode = stat.S_IMODE(seed.file.stat().st_mode)
    if not mode & (stat.S_IRWXG | stat.S_IRWXO):
        return []
    return [
        f"Other users of this machine can open the seed file {seed.file} (mode {mode:o}): whoever has "
        f"the seed can repeat the run on tables of their own. Run `chmod 600 {seed.file}`."
    ]
