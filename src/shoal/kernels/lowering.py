"""How the statements of a kernel become instructions: by the shortest way, and as few as possible.

- An element of a C-contiguous array is found by the place of its data and its shape; numba takes the
  array apart, however little of it is needed.
- `min` and `max` of two numbers are one comparison.
- A kernel that makes no array does nothing at the end of a variable's life. A variable that is set by
  one statement is a value; numba gives it a place in memory where several blocks use it. Of a record's
  field only the words that are needed are read.
"""

from typing import Any

from numba.core import ir as ir_of
from numba.core import types, typing
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

from shoal.kernels.inference import comparison, is_number, item_of
from shoal.kernels.records import DATA, SHAPE, WORD, Record, read_word

NO_NEGATIVE_INDEX = "NO_NEGATIVE_INDEX"
"""Set to True in a file whose kernels never count from the end of an array: nothing is done about it."""
_operations: dict[Any, Any] = {}
"""The signature of each operation on numbers."""


class KernelLower(Lower):  # type: ignore[misc]
    """Lowers operations on numbers, and single elements of arrays, by the shortest way."""

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """An operation on two numbers; others as numba does it."""
        signature = self.fndesc.calltypes[expr]
        static = (expr.static_lhs, expr.static_rhs)
        if any(each is not ir_of.UNDEFINED for each in static) or not all(
            map(is_number, signature.args)
        ):
            return super().lower_binop(resty, expr, op)
        context, builder = self.context, self.builder
        function = context.typing_context.resolve_value_type(op)
        key = op, signature.args
        if key not in _operations:
            _operations[key] = function.get_call_type(context.typing_context, signature.args, {})
        values = [
            context.cast(builder, self.loadvar(side.name), self.typeof(side.name), wanted)
            for side, wanted in zip((expr.lhs, expr.rhs), signature.args, strict=True)
        ]
        found = context.get_function(function, _operations[key])(builder, values)
        return context.cast(builder, found, signature.return_type, resty)

    def _lower_call_normal(self, function: Any, expr: Any, signature: Any) -> Any:
        """The lesser or greater of two numbers; other calls as numba does it."""
        operation = comparison(function, signature.args)
        if operation is None:
            return super()._lower_call_normal(function, expr, signature)
        context, builder, kind = self.context, self.builder, signature.return_type
        first, second = (
            context.cast(builder, self.loadvar(each.name), self.typeof(each.name), kind)
            for each in expr.args
        )
        compare = context.get_function(operation, typing.signature(types.boolean, kind, kind))
        return builder.select(compare(builder, (second, first)), second, first)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """One element of an array or of a tuple; other items as numba does it."""
        item = item_of(self.typeof(value.name), self.typeof(index.name))
        if item is not None:
            one = self.builder.extract_value(self.loadvar(value.name), item)
            return self.context.cast(self.builder, one, signature.return_type, resty)
        place = self._place(value, index)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        kind = self.typeof(value.name).dtype
        found = self.context.unpack_value(self.builder, kind, place)
        return self.context.cast(self.builder, found, kind, resty)

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> Any:
        """Set one element of an array; other items as numba does it."""
        place = self._place(target, index) if is_number(self.typeof(value.name)) else None
        if place is None:
            return super().lower_setitem(target, index, value, signature)
        kind = self.typeof(target.name).dtype
        given = self.loadvar(value.name)
        # by way of the type of the signature, as numba does
        given = self.context.cast(self.builder, given, self.typeof(value.name), signature.args[2])
        given = self.context.cast(self.builder, given, signature.args[2], kind)
        self.context.pack_value(self.builder, kind, given, place)
        return None

    def _place(self, array: Any, index: Any) -> Any:
        """A pointer to an element; None where an array is not regular or more than one is meant."""
        kind, by = self.typeof(array.name), self.typeof(index.name)
        if not (isinstance(kind, types.Array) and kind.layout == "C" and kind.aligned):
            return None
        from_end = not self.func_ir.func_id.func.__globals__.get(NO_NEGATIVE_INDEX, False)
        several = isinstance(by, types.BaseTuple)  # type: ignore[attr-defined]
        parts = tuple(by) if several else (by,)
        if len(parts) != kind.ndim or not all(isinstance(one, types.Integer) for one in parts):
            return None
        if not is_number(kind.dtype) or self.context.enable_boundscheck:
            return None
        context, builder = self.context, self.builder
        given = self.loadvar(index.name)
        data, size_of = self._parts(array.name, kind)
        at = None
        for axis, one in enumerate(parts):
            item = builder.extract_value(given, axis) if several else given
            wide = types.intp if one.signed else types.uintp
            item = context.cast(builder, item, one, wide)
            if one.signed or at is not None:
                size = size_of(axis)
                if one.signed and from_end:
                    negative = builder.icmp_signed("<", item, item.type(0))
                    item = builder.select(negative, builder.add(item, size), item)
                if at is not None:
                    item = builder.add(builder.mul(at, size), item)
            at = item
        return builder.gep(data(), [at])

    def _parts(self, name: str, kind: types.Array) -> tuple[Any, Any]:
        """How to find where the elements of an array begin, and how many there are along an axis."""
        builder, model = self.builder, self.context.data_model_manager[kind]
        whole, shape = self.loadvar(name), model.get_field_position("shape")
        return (
            lambda: builder.extract_value(whole, model.get_field_position("data")),
            lambda axis: builder.extract_value(whole, [shape, axis]),
        )


def set_once(blocks: dict[int, Any]) -> set[str]:
    """The variables that are set by one statement, which comes before all that use them."""
    where: dict[str, int] = {}
    others: set[str] = set()
    for at, block in blocks.items():
        for each in block.body:
            if type(each) is ir_of.Assign:
                if each.target.name in where:
                    others.add(each.target.name)
                where[each.target.name] = at
    over = compute_cfg_from_blocks(blocks).dominators()
    for at, block in blocks.items():
        here: set[str] = set()
        for each in block.body:
            target = each.target.name if type(each) is ir_of.Assign else ""
            for name in {one.name for one in each.list_vars()} - here - {target}:
                # blocks are lowered in their order
                if not (where.get(name, at) < at and where[name] in over.get(at, ())):
                    others.add(name)
            here.add(target)
    return where.keys() - others


class LeanLower(KernelLower):
    """Lowers a kernel that makes no array."""

    _disable_sroa_like_opt = False

    def _find_singly_assigned_variable(self) -> None:
        """Variables that need no place in memory."""
        self._singly_assigned_vars = set_once(self.func_ir.blocks)
        self._blk_local_varmap: dict[str, Any] = {}
        self._fields: dict[str, Any] = {}

    def lower_block(self, block: Any) -> None:
        """Lower each statement; where one cannot be, nothing says which."""
        self.pre_block(block)
        for each in block.body:
            self.loc = each.loc
            self.lower_inst(each)
        self.post_block(block)

    def lower_inst(self, inst: Any) -> None:
        """Lower a statement; a field that is an array is read where it is used."""
        if type(inst) is not ir_of.Assign:
            super().lower_inst(inst)
        elif self._is_field(inst.target.name, inst.value):
            self._fields[inst.target.name] = inst.value
        else:
            name = inst.target.name
            self.storevar(self.lower_assign(self.typeof(name), inst), name)

    def _is_field(self, name: str, value: Any) -> bool:
        """Whether an array that has no name in the kernel is a field of a record."""
        return (
            type(value) is ir_of.Expr
            and value.op == "getattr"
            and name.startswith("$")
            and {name, value.value.name} <= self._singly_assigned_vars
            and isinstance(self.typeof(name), types.Array)
            and isinstance(self.typeof(value.value.name), Record)
        )

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:  # noqa: ARG002
        """Store a value; what was there before is forgotten."""
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.varmap[name])

    def loadvar(self, name: str) -> Any:
        """Load a value."""
        if name in self._fields:
            return self.lower_expr(self.typeof(name), self._fields[name])
        return super().loadvar(name)

    def _parts(self, name: str, kind: types.Array) -> tuple[Any, Any]:
        """Of a field, the words that are needed."""
        if name not in self._fields:
            return super()._parts(name, kind)
        record, attribute = self._fields[name].value.name, self._fields[name].attr
        at, words = self.typeof(record).offsets[attribute], self.loadvar(record)
        item = self.context.get_data_type(kind.dtype).as_pointer()
        return (
            lambda: read_word(self.builder, words, at + DATA, item),
            lambda axis: read_word(self.builder, words, at + SHAPE + axis, WORD),
        )

    def _lower_call_normal(self, function: Any, expr: Any, signature: Any) -> Any:
        """The length of an array; other calls as others do it."""
        known = isinstance(function, types.Function) and function.typing_key is len
        if not (known and isinstance(signature.args[0], types.Array)):
            return super()._lower_call_normal(function, expr, signature)
        _, size_of = self._parts(expr.args[0].name, signature.args[0])
        return size_of(0)


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):  # type: ignore[misc]
    """The pass that lowers a kernel."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        """What lowers."""
        return KernelLower


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanLowering(NativeLowering):  # type: ignore[misc]
    """The pass that lowers a kernel that makes no array."""

    _name = "lean_lowering"

    @property
    def lowering_class(self) -> Any:
        """What lowers."""
        return LeanLower
