"""YAML mistakes in our words: where, what it looks like, what to do.

PyYAML says what its scanner expected; a user wants to know what to change.
"""

import yaml

QUOTE = "the quote opened here is not closed"
BRACKET = "the {} opened here is not closed, or a comma is missing in it"

WORDS = [
    ("'\\t'", "found a tab; indent with spaces"),
    ("nested too deep", "nested too deep for a policy"),
    ("another document", "a second document starts here; a policy is one document, remove `---`"),
    ("mapping values are not allowed", "found a ':' where none can stand; check the indentation, "
     "and put text that holds a ':' in quotes"),
    ("could not find expected ':'", "found a key without its ':'; write `key: value`"),
    ("undefined alias", "text that starts with * must stand in quotes"),
    ("directive", "a line cannot start with %; put the text in quotes"),
    ("alphabetic or numeric character", "text that starts with * or & must stand in quotes"),
    ("duplicate anchor", "found the same & name twice; give each its own"),
    ("unknown escape", "found a \\ in double quotes; use single quotes for text with a \\"),
    ("cannot start any token", "text cannot start with this character; put it in quotes"),
    ("tag", "text that starts with ! must stand in quotes"),
    ("sequence entries", "a list starts on a line of its own, or is written as [a, b]"),
    ("document start", "the indentation does not fit the lines above"),
    ("block end", "the indentation does not fit the lines above"),
]  # fmt: skip
"""A piece of PyYAML's text and what we say instead."""


def syntax_words(error: yaml.YAMLError, text: str) -> str:
    """':line:column: what is wrong', to stand after the file's name."""
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return f":{line}: holds a control character (code {ord(text[error.position])}); remove it."
    if not isinstance(error, yaml.MarkedYAMLError):
        return ": cannot be read as YAML."
    problem, context = str(error.problem or ""), str(error.context or "")
    mark, words = error.problem_mark, _words(f"{context} {problem}")
    if (opening := _left_open(problem, context)) and error.context_mark:
        mark, words = error.context_mark, opening
    place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
    return f"{place}: {words}."


def _words(problem: str) -> str:
    for piece, words in WORDS:
        if piece in problem:
            return words
    return "cannot be read as YAML; check indentation, quotes and brackets"


def _left_open(problem: str, context: str) -> str:
    """What to say at the bracket or quote that was left open, if that is the mistake."""
    if "quoted scalar" in context and "end of stream" in problem:
        return QUOTE
    if "flow mapping" in context and "expected" in problem:
        return BRACKET.format("{")
    if "flow sequence" in context and "expected" in problem:
        return BRACKET.format("[")
    return ""
