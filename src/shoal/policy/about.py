"""What a release is for, as a policy says it: the words of its report's first page."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from shoal.policy.messages import Problem, as_error, found

LONGEST = 140
"""Characters of a text: all of them fit on one sheet of paper."""
LONGEST_REASON = 300
"""Characters of a column's `why`."""


def read_text(value: Any, longest: int = LONGEST) -> Any:
    """A text that says something, on one line."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise as_error(Problem((), f"found {found(value)}; must be text (put it in quotes)"))
    text = " ".join(value.split())
    if not text:
        raise as_error(Problem((), "is empty; write what it is, or leave the key out"))
    if len(text) > longest:
        words = f"has {len(text):,} characters; write at most {longest}, to fit on the page"
        raise as_error(Problem((), words))
    return text


def read_reason(value: Any) -> Any:
    """Why a column has its role."""
    return read_text(value, LONGEST_REASON)


Text = Annotated[str | None, BeforeValidator(read_text)]
Reason = Annotated[str | None, BeforeValidator(read_reason)]


class About(BaseModel):
    """What the release is, for whom, and who answers for it. It changes nothing in the release."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Text = None
    """The name of what is published."""
    purpose: Text = None
    """What the release is for."""
    recipient: Text = None
    """Who gets it: a person, an institution, or the public."""
    contact: Text = None
    """Who answers questions, and how to reach them."""
    author: Text = None
    """Who wrote the policy."""
    organisation: Text = None
    """Who is responsible for the table."""
    legal_basis: Text = None
    """What allows the publication."""

    def given(self) -> dict[str, str]:
        """The texts that are not left out."""
        return self.model_dump(exclude_none=True)


NOTHING = About()
