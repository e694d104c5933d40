"""The answer to the first question: what is one person?

Where people have several rows, the policy names the column that tells them apart. That each row is one
person is the default of a policy, so that a person has thought of it is a comment on its first line.
"""

from shoal.errors import PolicyError
from shoal.studio.columns_text import roles_in, with_role
from shoal.studio.policy_text import changed

ROWS_ARE_PEOPLE = "each row"
COMMENT = "# One row is one person."


def person_answer(text: str) -> str:
    """The column of people, `each row`, or nothing where the question is not answered."""
    try:
        roles = roles_in(text)
    except PolicyError:
        return ""
    named = next((name for name, role in roles.items() if role == "person"), "")
    return named or (ROWS_ARE_PEOPLE if text.startswith(COMMENT) else "")


def with_rows_as_people(text: str) -> str:
    """The text of a policy with the answer that each row is one person."""
    for name, role in roles_in(text).items():
        if role == "person":
            text = changed(text, with_role(name, "identifier", settings=False))
    return text if text.startswith(COMMENT) else f"{COMMENT}\n{text}"
