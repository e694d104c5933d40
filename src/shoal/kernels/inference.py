"""The types of what a kernel computes with, found in as few steps as possible.

- The types of `a + b` and of `a[i]` are kept; numba looks them up anew at each occurrence, once to type
  it and again to lower it, among all kinds of values that can be added or indexed.
- A kernel is called with one signature, whichever whole number it is given.
- In a kernel that makes no array, a statement is looked at again only if a type has changed that it has
  to do with. A variable that is set several times, to values of one kind, stays one variable; numba
  makes one of each, and further ones where their ways meet.
"""

import operator
from collections.abc import Iterator
from typing import Any

from numba.core import errors, typeinfer, types, typing
from numba.core import ir as ir_of
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NopythonTypeInference, PreLowerStripPhis
from numba.core.untyped_passes import ReconstructSSA

from shoal.kernels.records import Record


def _is_whole(given: Any) -> bool:
    """Whether a value is a whole number with a sign: numba computes with these as with the widest."""
    return isinstance(given, types.Integer) and bool(given.signed)  # type: ignore[attr-defined]


def _alike(one: Any, other: Any) -> bool:
    """Whether a variable may hold values of both types as if they were of one."""
    if one == other or (_is_whole(one) and _is_whole(other)):
        return True
    return bool(types.unliteral(one) == types.unliteral(other))  # type: ignore[attr-defined]


class Variable(typeinfer.TypeVar):  # type: ignore[misc]
    """The type of a variable, and whether it was ever of another kind."""

    mixed = False

    def add_type(self, tp: Any, loc: Any) -> Any:
        """One of the types of its values."""
        if self.type is not None and not self.locked and not _alike(self.type, tp):
            self.mixed = True
        return super().add_type(tp, loc)


class Variables(typeinfer.TypeVarMap):  # type: ignore[misc]
    """The types of all variables."""

    __getitem__ = dict.__getitem__

    def __missing__(self, name: str) -> Variable:
        made = Variable(self.context, name)
        dict.__setitem__(self, name, made)
        return made


class Constraints(typeinfer.ConstraintNetwork):  # type: ignore[misc]
    """What statements say of types."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[int, list[str]] = {}
        """Of each constraint that once held: the variables that it has to do with."""
        self.held: dict[int, list[Any]] = {}
        """And the types that they had."""

    def propagate(self, infer: Any) -> list[Exception]:
        """Look at all constraints for which types have changed; return errors."""
        failed: list[Exception] = []
        known = infer.typevars
        for i, each in enumerate(self.constraints):
            if i in self.held and [known[name].type for name in self.names[i]] == self.held[i]:
                continue
            try:
                each(infer)
            except errors.TypingError as error:
                failed.append(errors.TypingError(str(error), loc=each.loc, highlighting=False))
            else:
                if i not in self.names:
                    self.names[i] = [name for name in _names(each) if name in known]
                self.held[i] = [known[name].type for name in self.names[i]]
        return failed


def _names(constraint: Any) -> Iterator[str]:
    """The variables that a constraint has to do with."""
    for value in vars(constraint).values():
        kind = type(value)
        if kind is str:
            yield value
        elif kind is ir_of.Var:
            yield value.name
        elif kind in {list, tuple}:
            yield from (each.name for each in value if type(each) is ir_of.Var)


class Inferer(typeinfer.TypeInferer):  # type: ignore[misc]
    """Finds the types of a kernel's variables."""

    def __init__(self, context: Any, func_ir: Any, warnings: Any) -> None:
        super().__init__(context, func_ir, warnings)
        self.typevars = Variables()
        self.typevars.set_context(context)
        self.constraints = Constraints()

    def typeof_global(self, inst: Any, target: Any, value: Any) -> None:
        """The type of a name of the file. A variable that begins as such a number may become another."""
        if type(value.value) in {bool, int, float}:
            kind = self.resolve_value_type(inst, value.value)
            literal = types.maybe_literal(value.value)  # type: ignore[attr-defined]
            self.add_type(target.name, literal or kind, loc=inst.loc)
        else:
            super().typeof_global(inst, target, value)


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanTyping(NopythonTypeInference):  # type: ignore[misc]
    """The types of a kernel's variables. Where one has values of several kinds, numba divides them."""

    _name = "lean_typing"

    def run_pass(self, state: Any) -> bool:
        """Find all types."""
        try:
            divide = self._mixes(state)
        except errors.TypingError:
            divide = True
        if divide:
            ReconstructSSA().run_pass(state)
            self._mixes(state)
            PreLowerStripPhis().run_pass(state)
        return True

    def _mixes(self, state: Any) -> bool:
        """Find types, and whether a variable has values of several kinds."""
        func_ir, target = state.func_ir, state.targetctx.target
        warnings = errors.WarningsFixer(errors.NumbaWarning)  # type: ignore[attr-defined]
        infer = Inferer(state.typingctx, func_ir, warnings)
        with state.typingctx.callstack.register(target, infer, func_ir.func_id, state.args):
            for i, (name, kind) in enumerate(zip(func_ir.arg_names, state.args, strict=True)):
                infer.seed_argument(name, i, kind)
            infer.build_constraint()
            infer.propagate()
            state.typemap, state.return_type, state.calltypes = infer.unify()
        return any(one.mixed for one in infer.typevars.values())


def is_number(given: Any) -> bool:
    """Whether values of a type are single numbers."""
    return isinstance(
        given, types.Number | types.Boolean | types.IntegerLiteral | types.BooleanLiteral
    )


def _as_argument(given: Any) -> Any:
    """The type by which a kernel takes a value: one signature, whichever whole number it is."""
    return types.int64 if _is_whole(given) else types.unliteral(given)  # type: ignore[attr-defined]


def item_of(whole: Any, by: Any) -> int | None:
    """Which item of a tuple is meant by a number in the source; None for anything else."""
    if not (isinstance(whole, types.BaseTuple) and isinstance(by, types.IntegerLiteral)):  # type: ignore[attr-defined]
        return None
    which = int(by.literal_value)
    return which % len(whole) if -len(whole) <= which < len(whole) else None


def comparison(function: Any, args: Any) -> Any:
    """By which operation `min` or `max` of two numbers compares them; None for any other call."""
    if len(args) != 2 or not isinstance(function, types.Function) or not all(map(is_number, args)):
        return None
    operations: dict[Any, Any] = {min: operator.lt, max: operator.gt}
    return operations.get(function.typing_key)


_typings: dict[tuple[int, bool], Any] = {}


def typing_of(context: Any, nrt: bool) -> Any:
    """The typing context, except that it remembers the types of operations and attributes.

    nrt: whether references to arrays are counted; what numba compiles to find a type depends on it.
    """
    key = id(context), nrt
    if key not in _typings:
        known: dict[Any, Any] = {}

        class Typing(type(context)):  # type: ignore[misc]
            """The same context."""

            def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
                """The signature of a call."""
                if isinstance(func, types.Dispatcher):
                    args = tuple(map(_as_argument, args))
                    return super().resolve_function_type(func, args, kws)
                item = item_of(*args) if func is operator.getitem else None
                if item is not None:
                    return typing.signature(args[0].types[item], *args)
                indexed = func is operator.getitem and isinstance(args[0], types.Array)
                if kws or not (indexed or isinstance(func, types.Function)):
                    return super().resolve_function_type(func, args, kws)
                # which number it is says nothing about its type
                if indexed or all(map(is_number, args)):
                    args = tuple(types.unliteral(each) for each in args)  # type: ignore[attr-defined]
                call = func, tuple(args)
                if call not in known:
                    if comparison(func, args) is None:
                        found = super().resolve_function_type(func, args, kws)
                    else:
                        found = typing.signature(self.unify_types(*args), *args)
                    if found is None:
                        return None
                    known[call] = found
                return known[call]

            def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
                """The signature of an assignment to an item."""
                if isinstance(target, types.Array) and is_number(value):
                    index, value = types.unliteral(index), types.unliteral(value)  # type: ignore[attr-defined]
                call = operator.setitem, target, index, value
                if call not in known:
                    known[call] = super().resolve_setitem(target, index, value)
                return known[call]

            def resolve_getattr(self, typ: Any, attr: str) -> Any:
                """The type of an attribute."""
                if not isinstance(typ, types.Array | Record):
                    return super().resolve_getattr(typ, attr)
                if (typ, attr) not in known:
                    known[typ, attr] = super().resolve_getattr(typ, attr)
                return known[typ, attr]

        made = Typing.__new__(Typing)
        made.__dict__ = context.__dict__
        _typings[key] = made
    return _typings[key]
