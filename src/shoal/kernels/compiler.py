"""How numba is made to compile kernels in a third of its usual time. The code that results is the same.

Measured on the kernels of a first run, what took the time was not the loops:

- To numba a named tuple is a value: each call hands over every field of each of its arrays, and each
  use of one array takes the whole tuple apart. Here a `Record` is handed over as a pointer to the places
  and shapes of its arrays.
- What a kernel calls is optimised and translated by itself, and again in every kernel that it is linked
  into. Here a part of other kernels is only linked, and only into what Python calls.
- The types of `a + b` and of `a[i]` are looked up anew at each occurrence, once to type it and again to
  lower it, among all kinds of values that can be added or indexed. Here the answer is kept.
- `min` and `max` of two numbers are functions, compiled for each pair of types. Here they are one
  comparison.
- `a[i]` takes an array apart, however little of it is needed. Here an element of a C-contiguous array is
  found by the place of its data and its shape.
- Python's garbage collector goes through all that numba has made, over and over. Here it rests.
- Kernels have no closures, `with` blocks or array expressions, and need no passes for them.

All of this reaches into numba. Where a version of it lacks something, `numba.njit` is used as it is.
"""

import gc
import hashlib
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numba
from llvmlite import ir
from llvmlite.binding import Linkage, create_pass_builder, create_pipeline_tuning_options
from numba.core import cgutils, types, typing
from numba.core import ir as ir_of
from numba.core.base import BaseContext
from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.registry import cpu_target
from numba.core.typed_passes import NativeLowering
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

WORD = ir.IntType(64)
PARENT, NITEMS, DATA, SHAPE = 1, 2, 4, 5
"""Places in what numba writes down about an array; its strides follow its shape."""
NO_NEGATIVE_INDEX = "NO_NEGATIVE_INDEX"
"""Set to True in a file whose kernels never count from the end of an array: nothing is done about it."""
MANY_PARTS = 8
"""A kernel that calls more parts than this branches more than it loops: to unroll its loops makes it
larger, not faster."""
UNUSED = {
    "LiteralPropagation",
    "annotate_types",
    "dead_branch_prune",
    "dump_parfor_diagnostics",
    "find_literally",
    "inline_closure_likes",
    "inline_inlinables",
    "inline_overloads",
    "literal_unroll",
    "make_function_op_code_to_jit_function",
    "nopython_rewrites",
    "nopython_supported_feature_validation",
    "rewrite_semantic_constants",
    "with_lifting",
}
"""Passes for what kernels do not have."""


def compiled(function: FunctionType, **options: Any) -> Any:
    """What numba makes of a function: it compiles on first use and keeps the result on disk."""
    if not is_supported():
        return numba.njit(cache=True, nogil=True, **options)(function)
    for given in function.__annotations__.values():
        register(given)
    if options.get("no_cpython_wrapper"):
        # it is part of what is kept of the kernels that call it
        return numba.njit(nogil=True, pipeline_class=PartCompiler, **options)(function)
    lean = LeanCompiler if options.get("_nrt") is False else KernelCompiler
    return numba.njit(cache=True, nogil=True, pipeline_class=lean, **options)(function)


def prepare() -> None:
    """Load what numba loads with the first function. Kernels are interpreted as long as before."""
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def is_supported() -> bool:
    """Whether this version of numba has all that is reached into."""
    of_library = (
        "_ensure_finalized",
        "_finalize_dynamic_globals",
        "_get_module_for_linking",
        "_optimize_final_module",
        "_optimize_functions",
        "_raise_if_finalized",
    )
    of_lowering = (
        "_lower_call_normal",
        "loadvar",
        "lower_binop",
        "lower_getitem",
        "lower_setitem",
        "typeof",
    )
    return (
        all(hasattr(JITCodeLibrary, name) for name in of_library)
        and all(hasattr(Lower, name) for name in of_lowering)
        and hasattr(CPUCodegen, "_module_pass_manager")
        and hasattr(ir_of.Inst, "_rec_list_vars")
    )


class Record(types.Type):
    """A named tuple whose fields are C-contiguous arrays, numbers and other records.

    Its arrays belong to the caller: a kernel must not return a part of one.
    """

    def __init__(self, of: Any, fields: tuple[types.Type, ...]) -> None:
        self.of = of
        self.fields = dict(zip(of._fields, fields, strict=True))
        """What each field holds."""
        self.offsets: dict[str, int] = {}
        """Where each field begins, in words."""
        self.words = 0
        for name, field in self.fields.items():
            self.offsets[name] = self.words
            self.words += _words(field)
        super().__init__(f"Record({of.__module__}.{of.__qualname__}, {fields})")

    @property
    def mangling_args(self) -> tuple[str, tuple[str, ...]]:
        """A short name for symbols, which are repeated in every call."""
        return self.of.__name__ + hashlib.blake2b(self.name.encode(), digest_size=8).hexdigest(), ()


def _words(field: types.Type) -> int:
    if isinstance(field, types.Array):
        return SHAPE + 2 * int(field.ndim)
    return field.words if isinstance(field, Record) else 1


def _is_supported(field: types.Type) -> bool:
    if isinstance(field, types.Array):
        return bool(field.layout == "C" and field.aligned)
    return isinstance(field, Record | types.Integer | types.Float | types.Boolean)


_registered: set[type] = set()


def register(given: Any) -> None:
    """Let numba treat the values of a class of named tuples as records; another class is left alone."""
    if not (isinstance(given, type) and issubclass(given, tuple) and hasattr(given, "_fields")):
        return
    if given in _registered:
        return
    _registered.add(given)
    for each in given.__annotations__.values():
        register(each)
    as_tuple = typeof_impl.dispatch(tuple)

    @typeof_impl.register(given)
    def typeof_record(value: Any, context: Any) -> types.Type:
        fields = tuple(typeof_impl(each, context) for each in value)
        if all(map(_is_supported, fields)):
            return Record(given, fields)
        return as_tuple(value, context)


@register_model(Record)
class RecordModel(models.PrimitiveModel):  # type: ignore[misc]
    """A pointer to words."""

    def __init__(self, manager: Any, record: Record) -> None:
        super().__init__(manager, record, WORD.as_pointer())


@infer_getattr
class RecordFields(AttributeTemplate):  # type: ignore[misc]
    """The types of fields."""

    key = Record

    def generic_resolve(self, record: Record, name: str) -> types.Type | None:
        """The type of one field."""
        return record.fields.get(name)


_sizes: dict[str, int] = {}


def _size_of(context: Any, kind: ir.Type) -> int:
    """The bytes that a value takes; to find out, LLVM is given a module of its own."""
    known = str(kind)
    if known not in _sizes:
        _sizes[known] = kind.get_abi_size(context.target_data)
    return _sizes[known]


@lower_getattr_generic(Record)
def read_field(context: Any, builder: Any, record: Record, words: Any, name: str) -> Any:
    """Read one field; nothing changes a record while a kernel runs, so that reads leave loops."""
    field, at = record.fields[name], record.offsets[name]

    def read(place: int, what: ir.Type) -> Any:
        pointer = builder.gep(words, [WORD(place)])
        value = builder.load(builder.bitcast(pointer, what.as_pointer()))
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    def read_all(place: int) -> Any:
        return cgutils.pack_array(builder, [read(place + i, WORD) for i in range(field.ndim)], WORD)

    if isinstance(field, Record):
        return builder.gep(words, [WORD(at)])
    model = context.data_model_manager[field]
    if not isinstance(field, types.Array):
        return model.from_data(builder, read(at, model.get_data_type()))
    item = context.get_data_type(field.dtype)
    array = ir.Constant(model.get_value_type(), ir.Undefined)
    positions = {part: model.get_field_position(part) for part in ("meminfo", "parent")}
    parts = {
        "meminfo": ir.Constant(array.type.elements[positions["meminfo"]], None),
        "parent": read(at + PARENT, array.type.elements[positions["parent"]]),
        "nitems": read(at + NITEMS, WORD),
        "itemsize": WORD(_size_of(context, item)),
        "data": read(at + DATA, item.as_pointer()),
        "shape": read_all(at + SHAPE),
        "strides": read_all(at + SHAPE + field.ndim),
    }
    for part, value in parts.items():
        array = builder.insert_value(array, value, model.get_field_position(part))
    return array


@unbox(Record)
def list_fields(record: Record, value: Any, c: Any) -> NativeValue:
    """Write down on the stack where the arrays are."""
    words = cgutils.alloca_once(c.builder, WORD, size=WORD(record.words))
    failed = cgutils.alloca_once_value(c.builder, cgutils.false_bit)
    _list_fields(record, value, words, failed, c)
    # Reads of a record are marked as invariant. The optimiser must not find out that it was written just
    # now, and move them ahead of that.
    hide = ir.InlineAsm(ir.FunctionType(words.type, [words.type]), "", "=r,0,~{memory}", True)
    return NativeValue(c.builder.call(hide, [words]), is_error=c.builder.load(failed))


def _list_fields(record: Record, value: Any, words: Any, failed: Any, c: Any) -> None:
    for i, (name, field) in enumerate(record.fields.items()):
        item = c.pyapi.tuple_getitem(value, i)
        place = c.builder.gep(words, [WORD(record.offsets[name])])
        if isinstance(field, Record):
            _list_fields(field, item, place, failed, c)
            continue
        if isinstance(field, types.Array):
            # borrowed: the tuple keeps its arrays alive
            adapt = cgutils.get_or_insert_function(
                c.builder.module,
                ir.FunctionType(ir.IntType(32), [c.pyapi.pyobj, c.pyapi.voidptr]),
                "numba_adapt_ndarray",
            )
            code = c.builder.call(adapt, [item, c.builder.bitcast(place, c.pyapi.voidptr)])
            wrong = c.builder.icmp_signed("!=", code, code.type(0))
        else:
            native = c.unbox(field, item)
            data = c.context.data_model_manager[field].as_data(c.builder, native.value)
            c.builder.store(data, c.builder.bitcast(place, data.type.as_pointer()))
            wrong = native.is_error
        c.builder.store(c.builder.or_(c.builder.load(failed), wrong), failed)


class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel: it is linked with the parts that it calls, and with what these call."""

    def add_linking_library(self, library: Any) -> None:
        """Add what is called."""
        super().add_linking_library(library)
        for each in library._linking_libraries if isinstance(library, PartLibrary) else ():
            if each not in self._linking_libraries:
                super().add_linking_library(each)


class LeanLibrary(KernelLibrary):
    """The code of a kernel that makes no array: optimised once, with all that it calls."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes = self._codegen._module_pass_manager()
        if isinstance(passes, tuple) and len(self._linking_libraries) > MANY_PARTS:
            options = create_pipeline_tuning_options(speed_level=2)
            options.loop_unrolling = options.loop_vectorization = False
            builder = create_pass_builder(self._codegen._tm, options)
            builder.getModulePassManager().run(self._final_module, builder)
        elif isinstance(passes, tuple):
            passes[0].run(self._final_module, passes[1])
        else:  # before numba 0.62
            passes.run(self._final_module)


class PartLibrary(LeanLibrary):
    """Code that is linked into other code, and neither optimised nor translated by itself."""

    def finalize(self) -> None:
        """Have nothing added any more; what is called is linked where this is."""
        self._raise_if_finalized()
        for each in self._linking_libraries if hasattr(self, "_reload_init") else ():
            self._reload_init.update(each._reload_init)  # not before some version of numba
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = "linkonce_odr"  # several kernels may have it
        self._finalize_dynamic_globals()
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        self._ensure_finalized()
        return self._final_module

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002 - as numba calls it
        """Python has nothing to call."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """What numba asks to set the environment of a function: there is none to set."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """An environment is what the wrapper for Python uses; there is no such wrapper."""


_operations: dict[Any, Any] = {}
"""The signature of each operation on numbers."""


class KernelLower(Lower):  # type: ignore[misc]
    """Lowers operations on numbers, and single elements of arrays, by the shortest way."""

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """An operation on two numbers; others as numba does it."""
        signature = self.fndesc.calltypes[expr]
        static = (expr.static_lhs, expr.static_rhs)
        if any(each is not ir_of.UNDEFINED for each in static) or not all(
            map(_is_number, signature.args)
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
        operation = _comparison(function, signature.args)
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
        """One element of an array; other items as numba does it."""
        place = self._place(value, index)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        kind = self.typeof(value.name).dtype
        found = self.context.unpack_value(self.builder, kind, place)
        return self.context.cast(self.builder, found, kind, resty)

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> Any:
        """Set one element of an array; other items as numba does it."""
        place = self._place(target, index) if _is_number(self.typeof(value.name)) else None
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
        if not _is_number(kind.dtype) or self.context.enable_boundscheck:
            return None
        context, builder = self.context, self.builder
        whole, given = self.loadvar(array.name), self.loadvar(index.name)
        model = context.data_model_manager[kind]
        shape = model.get_field_position("shape")
        at = None
        for axis, one in enumerate(parts):
            item = builder.extract_value(given, axis) if several else given
            wide = types.intp if one.signed else types.uintp
            item = context.cast(builder, item, one, wide)
            if one.signed or at is not None:
                size = builder.extract_value(whole, [shape, axis])
                if one.signed and from_end:
                    negative = builder.icmp_signed("<", item, item.type(0))
                    item = builder.select(negative, builder.add(item, size), item)
                if at is not None:
                    item = builder.add(builder.mul(at, size), item)
            at = item
        data = builder.extract_value(whole, model.get_field_position("data"))
        return builder.gep(data, [at])


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):  # type: ignore[misc]
    """The pass that lowers a kernel."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        """What lowers."""
        return KernelLower


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Types and lowers a kernel."""

    library: type[KernelLibrary] = KernelLibrary
    """Where the code goes."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, *rest: Any) -> None:
        result, flags, *others = rest
        flags = _flags_of(type(flags))(flags)
        super().__init__(typing, target, library, args, result, flags, *others)
        self.state.typingctx = _typing_of(typing, bool(flags.nrt))

    def compile_extra(self, function: FunctionType) -> Any:
        """Compile without garbage collection."""
        with _in_haste():
            return super().compile_extra(function)

    def define_pipelines(self) -> list[Any]:
        """The passes that a kernel needs."""
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        passes = DefaultPassBuilder.define_nopython_pipeline(state)
        passes.passes = [
            (KernelLowering, why) if each is NativeLowering else (each, why)
            for each, why in passes.passes
            if each.name() not in UNUSED
        ]
        return [passes]


class LeanCompiler(KernelCompiler):
    """Compiles a kernel that makes no array."""

    library = LeanLibrary


class PartCompiler(KernelCompiler):
    """Compiles a part of other kernels."""

    library = PartLibrary


_PLAIN = {ir_of.Loc, str, int, bool, float, type(None)}
"""Kinds of values that have no variables in them."""
_list_variables = ir_of.Inst._rec_list_vars


def _variables(self: Any, value: Any) -> Any:
    """The variables of a part of an instruction, those that occur most without asking what else they
    may be."""
    kind = type(value)
    if kind is ir_of.Var:
        return [value]
    if kind in _PLAIN:
        return []
    if kind is dict:
        return [found for each in value.values() for found in _variables(self, each)]
    return _list_variables(self, value)


@contextmanager
def _in_haste() -> Iterator[None]:
    """numba compiles in one thread at a time, and what a kernel calls within that."""
    collecting = gc.isenabled()
    before = ir_of.Inst._rec_list_vars, BaseContext.get_abi_sizeof
    gc.disable()
    ir_of.Inst._rec_list_vars, BaseContext.get_abi_sizeof = _variables, _size_of
    try:
        yield
    finally:
        ir_of.Inst._rec_list_vars, BaseContext.get_abi_sizeof = before
        if collecting:
            gc.enable()


_flags: dict[type, type] = {}
_typings: dict[tuple[int, bool], Any] = {}


def _flags_of(given: Any) -> Any:
    """Compiler flags that are compared, which happens at each operation, without asking for each."""
    if given not in _flags:
        defaults = {name: option.default for name, option in given.options.items()}

        class Flags(given):  # type: ignore[misc]
            """The same flags."""

            def values(self) -> dict[str, Any]:
                """The value of each flag."""
                return {**defaults, **self._values}

        _flags[given] = Flags
    return _flags[given]


def _is_number(given: Any) -> bool:
    return isinstance(
        given, types.Number | types.Boolean | types.IntegerLiteral | types.BooleanLiteral
    )


def _comparison(function: Any, args: Any) -> Any:
    """By which operation `min` or `max` of two numbers compares them; None for any other call."""
    if len(args) != 2 or not isinstance(function, types.Function) or not all(map(_is_number, args)):
        return None
    operations: dict[Any, Any] = {min: operator.lt, max: operator.gt}
    return operations.get(function.typing_key)


def _typing_of(context: Any, nrt: bool) -> Any:
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
                indexed = func is operator.getitem and isinstance(args[0], types.Array)
                if kws or not (indexed or isinstance(func, types.Function)):
                    return super().resolve_function_type(func, args, kws)
                # which number it is says nothing about its type
                if indexed or all(map(_is_number, args)):
                    args = tuple(types.unliteral(each) for each in args)  # type: ignore[attr-defined]
                call = func, tuple(args)
                if call not in known:
                    if _comparison(func, args) is None:
                        found = super().resolve_function_type(func, args, kws)
                    else:
                        found = typing.signature(self.unify_types(*args), *args)
                    if found is None:
                        return None
                    known[call] = found
                return known[call]

            def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
                """The signature of an assignment to an item."""
                if isinstance(target, types.Array) and _is_number(value):
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
