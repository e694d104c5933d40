"""Where the secret key of pseudonyms is: in a file or in the environment, never in the policy."""

import os
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from shoal.errors import PolicyError
from shoal.policy.messages import Problem, as_error

SHORTEST = 16
"""Bytes of a key: a shorter one could be tried out."""
HOW = "make one with `openssl rand -hex 32` and keep it apart from the tables"


class PseudonymKey(BaseModel):
    """Where the key of the role `pseudonym` is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key_file: str | None = None
    """A file with the key; a relative path starts at the policy's folder."""
    key_env: str | None = None
    """The name of an environment variable with the key."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.key_file is None) == (self.key_env is None):
            words = (
                "name the key's file with `key_file`, or its environment variable with `key_env`"
            )
            raise as_error(Problem((), words))
        return self

    def load(self, folder: Path) -> bytes:
        """The key, without line ends around it.

        Raises
        ------
        PolicyError
            If there is none, or it is too short.
        """
        if self.key_env is not None:
            where = f"the environment variable {self.key_env}"
            key = os.environ.get(self.key_env, "").encode()
            if not key:
                raise PolicyError(f"pseudonym.key_env: {where} is not set; {HOW}.")
        else:
            path = folder / str(self.key_file)
            where = str(path)
            try:
                key = path.read_bytes()
            except OSError:
                raise PolicyError(f"pseudonym.key_file: {path} cannot be read; {HOW}.") from None
        key = key.strip()
        if len(key) < SHORTEST:
            raise PolicyError(
                f"pseudonym: the key in {where} has {len(key)} bytes; it must have {SHORTEST} or more: "
                f"{HOW}."
            )
        return key
