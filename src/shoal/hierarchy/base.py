"""The base class of all hierarchies, and how they are created in Python."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.arrays import Codes
    from shoal.hierarchy.dates import Part
    from shoal.hierarchy.tree import HierarchyTree


class Hierarchy(ABC):
    """How the values of a column generalise, level by level.

    Create one with `from_dict`, `from_frame`, `from_csv`, `intervals`, `mask`, `dates` or
    `from_function`, and give it to a column of a policy (`{"role": "quasi", "hierarchy": ...}`) or to
    `hierarchies` of `shoal.anonymize`. A value belongs to the leaf with the same text: 39 and 39.0
    are `39`, a date is `1964-03-07`.

    Examples
    --------
    >>> Hierarchy.mask("right").paths(["02138"])
    [('02138', '0213*', '021**', '02***', '0****', '*')]
    """

    policy_keys: ClassVar[Mapping[str, str]] = {}
    """The keys under `hierarchy:` in a policy and the fields they fill, the kind's own key first.
    Empty where a policy file cannot describe this kind."""
    allowed: ClassVar[str] = ""
    """What is allowed under the kind's own key, for messages."""
    choices: ClassVar[tuple[str, ...]] = ()
    """The words that are allowed there, for the nearest spelling."""
    uncovered: ClassVar[str] = "are not in its hierarchy"
    """What is wrong with values that the hierarchy does not cover, for messages."""
    reads: ClassVar[Literal["text", "number", "date"]] = "text"
    """What it is built from. Numbers and dates may be written in any way that a policy can name."""
    from_values: ClassVar[bool] = False
    """Whether the leaves are the values of the table, which a reader of the release cannot know."""

    @abstractmethod
    def build(self, values: "pa.Array", column: str, folder: Path) -> "tuple[HierarchyTree, Codes]":
        """The tree for the distinct values of a column, and (values,) the leaf of each or -1.

        No value is missing. `column` is for messages; relative paths start at `folder`.
        """

    def to_plain(self) -> str | dict[str, Any]:
        """The hierarchy as a policy file writes it; one that it cannot describe is named by its class.

        A policy's fingerprint and certificate contain this.
        """
        from pydantic import TypeAdapter

        fields = TypeAdapter(type(self)).dump_python(self, mode="json")
        if not self.policy_keys:
            return {type(self).__name__: fields}
        return {key: fields[field] for key, field in self.policy_keys.items()}

    def paths(
        self, values: Iterable[Any], folder: str | os.PathLike[str] = ""
    ) -> list[tuple[str, ...] | None]:
        """The labels of some values, from the value itself to the root.

        Parameters
        ----------
        values
            Values of a column.
        folder
            Where the relative path of a CSV file starts.

        Returns
        -------
        list of tuple or None
            None for a value that the hierarchy does not cover.

        Examples
        --------
        >>> Hierarchy.dates(["month", "year"]).paths(["1964-03-07", "unknown"])
        [('1964-03-07', '1964-03', '1964', '*'), None]
        """
        import pyarrow as pa

        tree, codes = self.build(pa.array(list(values)), "values", Path(folder))
        return [
            None
            if code < 0
            else tuple(
                labels[nodes[code]] for labels, nodes in zip(tree.labels, tree.nodes, strict=True)
            )
            for code in codes.tolist()
        ]

    @staticmethod
    def from_dict(
        mapping: Mapping[Any, Any], orient: Literal["nested", "leaf"] = "nested"
    ) -> "Hierarchy":
        """A hierarchy from a dictionary.

        Parameters
        ----------
        mapping
            With `orient="nested"` names over their parts: a part is a dictionary of further names, a
            list of leaves, or a single leaf. With `orient="leaf"` each leaf with its parent, or with
            a list of its ancestors from the parent up.
        orient
            The form of `mapping`.

        Returns
        -------
        Hierarchy
            With a root `*` where several names are at the top.

        Raises
        ------
        HierarchyError
            When the dictionary is not a tree.

        Examples
        --------
        >>> food = Hierarchy.from_dict({"food": {"fruit": ["apple", "pear"], "nut": ["almond"]}})
        >>> food.paths(["pear"])
        [('pear', 'fruit', 'food')]
        >>> Hierarchy.from_dict({"apple": "fruit", "almond": "nut"}, orient="leaf").paths(["apple"])
        [('apple', 'fruit', '*')]
        """
        from shoal.hierarchy.nested import NestedTree, nest

        if orient == "nested":
            return NestedTree(mapping)
        rows = [
            (leaf, *(above if isinstance(above, list | tuple) else (above,)))
            for leaf, above in mapping.items()
        ]
        return NestedTree(nest(rows, "from_dict"))

    @staticmethod
    def from_frame(frame: Any) -> "Hierarchy":
        """A hierarchy from a table with one row per leaf, as in the CSV files of other tools.

        Parameters
        ----------
        frame
            A pandas, polars or pyarrow table. Its first column has the leaves, the others their
            ancestors, the parent first. The names of the columns do not matter.

        Returns
        -------
        Hierarchy
            With a root `*` where the last column has several values.

        Raises
        ------
        HierarchyError
            When a cell is empty, or the rows are not a tree.

        Examples
        --------
        >>> import pyarrow as pa
        >>> frame = pa.table({"town": ["Ghent", "Mons"], "region": ["Flanders", "Wallonia"]})
        >>> Hierarchy.from_frame(frame).paths(["Mons"])
        [('Mons', 'Wallonia', '*')]
        """
        from shoal.hierarchy.nested import NestedTree, nest, rows_of

        return NestedTree(nest(rows_of(frame), "from_frame"))

    @staticmethod
    def from_csv(path: str | os.PathLike[str], separator: str | None = None) -> "Hierarchy":
        """A hierarchy from a CSV file with a line per leaf: `apple;fruit;*`.

        Parameters
        ----------
        path
            The file. A relative path starts at the policy's folder.
        separator
            The character between fields; detected when left out.

        Returns
        -------
        Hierarchy
            The file is read when the hierarchy is used.

        Examples
        --------
        >>> Hierarchy.from_csv("race.csv")
        Hierarchy.from_csv('race.csv')
        """
        from shoal.hierarchy.csv_file import CsvFile

        return CsvFile(os.fspath(path), separator)

    @staticmethod
    def intervals(widths: Iterable[float], start: float = 0) -> "Hierarchy":
        """Numbers in intervals that grow wider on every level.

        Parameters
        ----------
        widths
            The width of each level; each a multiple of the one before.
        start
            A number where an interval of every width begins.

        Returns
        -------
        Hierarchy
            With the labels `[30-35)`, which do not include their upper end, and a root `*`.

        Raises
        ------
        HierarchyError
            When a narrow interval would be in two wider ones.

        Examples
        --------
        >>> Hierarchy.intervals([5, 10, 20]).paths([39])
        [('39', '[35-40)', '[30-40)', '[20-40)', '*')]
        """
        from shoal.hierarchy.intervals import Intervals

        return Intervals(tuple(widths), start)

    @staticmethod
    def mask(side: Literal["right", "left"] = "right") -> "Hierarchy":
        """Text with one more character masked on every level: `02138`, `0213*`, `021**` up to `*`.

        Parameters
        ----------
        side
            The end where masking begins.

        Returns
        -------
        Hierarchy
            With as many levels as the longest value has characters.

        Examples
        --------
        >>> Hierarchy.mask("left").paths(["AB1"])
        [('AB1', '*B1', '**1', '*')]
        """
        from shoal.hierarchy.mask import Mask

        return Mask(side)

    @staticmethod
    def dates(parts: "Iterable[Part]") -> "Hierarchy":
        """Dates by their parts.

        Parameters
        ----------
        parts
            One or more of "day", "month", "quarter", "year" and "decade", in this order.

        Returns
        -------
        Hierarchy
            With the labels `1964-03`, `1964-Q1`, `1964` and `1960s`, and a root `*`.

        Examples
        --------
        >>> Hierarchy.dates(["quarter", "decade"]).paths(["1964-03-07"])
        [('1964-03-07', '1964-Q1', '1960s', '*')]
        """
        from shoal.hierarchy.dates import DateParts

        return DateParts(tuple(parts))

    @staticmethod
    def from_function(function: Callable[[str, int], str], levels: int = 1) -> "Hierarchy":
        """A hierarchy computed from each value.

        Parameters
        ----------
        function
            Called with the text of a value and a level, 1 being right above the values; returns the
            label of the value on that level. Values with one label on a level must have one label on
            all levels above. A function of a module can be sent to other processes, a local one
            cannot.
        levels
            The number of levels between the values and the root.

        Returns
        -------
        Hierarchy
            With a root `*` above the last level.

        Examples
        --------
        >>> icd = Hierarchy.from_function(lambda code, level: code[: 3 if level == 1 else 1], levels=2)
        >>> icd.paths(["E11.9", "J45.0"])
        [('E11.9', 'E11', 'E', '*'), ('J45.0', 'J45', 'J', '*')]
        """
        from shoal.hierarchy.function import FunctionHierarchy

        return FunctionHierarchy(function, levels)
