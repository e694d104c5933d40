"""What is derived from a large seed, in plain Python."""

import hashlib

WORD = 2**64


def plain_sip_hash(key: tuple[int, int], words: list[int]) -> int:
    """SipHash-2-4 of whole words, as its authors wrote it down."""
    v = [
        key[0] ^ 0x736F6D6570736575,
        key[1] ^ 0x646F72616E646F6D,
        key[0] ^ 0x6C7967656E657261,
        key[1] ^ 0x7465646279746573,
    ]

    def turned(word: int, by: int) -> int:
        return (word << by | word >> (64 - by)) % WORD

    def rounds(times: int) -> None:
        for _ in range(times):
            v[0] = (v[0] + v[1]) % WORD
            v[2] = (v[2] + v[3]) % WORD
            v[1] = turned(v[1], 13) ^ v[0]
            v[3] = turned(v[3], 16) ^ v[2]
            v[0] = turned(v[0], 32)
            v[2] = (v[2] + v[1]) % WORD
            v[0] = (v[0] + v[3]) % WORD
            v[1] = turned(v[1], 17) ^ v[2]
            v[3] = turned(v[3], 21) ^ v[0]
            v[2] = turned(v[2], 32)

    for word in [*words, 8 * len(words) % 256 << 56]:
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def plain_derived(seed: int, use: str, *numbers: int) -> bytes:
    """The 16 bytes that a large seed gives for one use."""
    content = f'["{use}"' + "".join(f", {number}" for number in numbers) + "]"
    key = bytes(seed >> 8 * place & 255 for place in range(32))
    return hashlib.blake2b(content.encode(), key=key, digest_size=16).digest()


def plain_key(seed: int, use: str) -> tuple[int, int]:
    number = int.from_bytes(plain_derived(seed, use), "little")
    return number % WORD, number // WORD
