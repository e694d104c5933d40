"""How numba is made to compile kernels in a third of its usual time. The code that results is the same.

Measured on the kernels of a first run, what took the time was not the loops:

- To numba a named tuple is a value, taken apart at each use. Here it is a pointer (`records.py`).
- What a kernel calls is optimised and translated by itself, and again in every kernel that it is linked
  into. Here a part of other kernels is only linked, and only into what Python calls.
- Types are looked up anew at each occurrence, for every way through the code (`inference.py`).
- Most instructions take arrays apart, move variables to memory and back, and count references
  (`lowering.py`). Where no array is made, no reference is counted and no variable's life has an end.
- Python's garbage collector goes through all that numba has made, over and over, and once more at the
  end. Here it rests, and takes all that for old.
- Kernels have no closures, `with` blocks or array expressions, and need no passes for them.

All of this reaches into numba. Where a version of it lacks something, `numba.njit` is used as it is.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, ClassVar

import numba
from llvmlite.binding import Linkage, create_pass_builder, create_pipeline_tuning_options
from numba.core import ir as ir_of
from numba.core.base import BaseContext
from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.registry import cpu_target
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.typeinfer import TypeInferer
from numba.core.untyped_passes import GenericRewrites, IRProcessing, ReconstructSSA

from shoal.kernels.inference import LeanTyping, typing_of
from shoal.kernels.lowering import KernelLowering, LeanLowering
from shoal.kernels.records import Record as Record  # what numba kept before names it here
from shoal.kernels.records import register, size_of_type

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
        "_alloca_var",
        "_find_singly_assigned_variable",
        "_lower_call_normal",
        "loadvar",
        "lower_assign",
        "lower_binop",
        "lower_block",
        "lower_expr",
        "lower_getitem",
        "lower_inst",
        "lower_setitem",
        "storevar",
        "typeof",
    )
    of_inference = ("build_constraint", "propagate", "seed_argument", "typeof_global", "unify")
    return (
        all(hasattr(JITCodeLibrary, name) for name in of_library)
        and all(hasattr(Lower, name) for name in of_lowering)
        and all(hasattr(TypeInferer, name) for name in of_inference)
        and hasattr(CPUCodegen, "_module_pass_manager")
        and hasattr(ir_of.Inst, "_rec_list_vars")
    )


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


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanProcessing(IRProcessing):  # type: ignore[misc]
    """What later passes need: not where the life of each variable ends."""

    _name = "lean_processing"

    def run_pass(self, state: Any) -> bool:
        """Put blocks into their canonical form."""
        func_ir = state.func_ir
        func_ir.blocks, func_ir.generator_info = canonicalize_cfg(func_ir.blocks), None
        if any(
            block.is_terminated and isinstance(block.terminator, ir_of.Raise)
            for block in func_ir.blocks.values()
        ):
            GenericRewrites().run_pass(state)  # a message is a constant
        return True


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Types and lowers a kernel."""

    library: type[KernelLibrary] = KernelLibrary
    """Where the code goes."""
    others: ClassVar[dict[Any, Any]] = {NativeLowering: KernelLowering}
    """Passes in place of numba's; None for those that are not needed."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, *rest: Any) -> None:
        result, flags, *others = rest
        flags = _flags_of(type(flags))(flags)
        super().__init__(typing, target, library, args, result, flags, *others)
        self.state.typingctx = typing_of(typing, bool(flags.nrt))

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
            (self.others.get(each, each), why)
            for each, why in passes.passes
            if each.name() not in UNUSED and self.others.get(each, each)
        ]
        return [passes]


LEAN: dict[Any, Any] = {
    GenericRewrites: None,
    IRLegalization: None,
    IRProcessing: LeanProcessing,
    NativeLowering: LeanLowering,
    NopythonTypeInference: LeanTyping,
    PreLowerStripPhis: None,
    ReconstructSSA: None,
}
"""Passes for a kernel that makes no array, in place of numba's."""


class LeanCompiler(KernelCompiler):
    """Compiles a kernel that makes no array."""

    library = LeanLibrary
    others = LEAN


class PartCompiler(KernelCompiler):
    """Compiles a part of other kernels."""

    library = PartLibrary
    others = LEAN


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
    ir_of.Inst._rec_list_vars, BaseContext.get_abi_sizeof = _variables, size_of_type
    try:
        yield
    finally:
        ir_of.Inst._rec_list_vars, BaseContext.get_abi_sizeof = before
        if collecting:
            _count_as_old()
            gc.enable()


def _count_as_old() -> None:
    """Let the garbage collector take all objects for old; else it goes through what numba has made."""
    if not gc.get_freeze_count():  # what somebody else has frozen stays so
        gc.freeze()
        gc.unfreeze()


_flags: dict[type, type] = {}


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
