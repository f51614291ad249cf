"""The names of files in a folder of dumps: which module, which pass, in which order.

    module_0012.jit_f.before_optimizations.txt
    module_0012.jit_f.0011.simplification.after_algsimp.before_simplify-sorts.txt
    module_0012.jit_f.0052.copy-insertion.after_adding_special-case_copies.txt
    1731000000000000.module_0012.jit_f.sm_9.0_gpu_after_optimizations.txt          a time stamp in front
    module_0012.thread_7.jit_f.0003.fusion.after_priority-fusion.before_dce.txt.gz
    3_1_canonicalize.mlir, 02-after-cse.mlir                                        passes of MLIR

Source: XLA's hlo_dump (DumpHloModuleBetweenPassesIfEnabled, FilenameFor); MLIR's --mlir-print-ir-tree-dir.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: stages outside of numbered passes, in their order: before all passes, and after them
_STAGES = r"(?:(?:sm_[\d.]+\w*?_|gfx[\w:+\-]+?_)?[a-z]+_)?" \
          r"(?:before_optimizations|after_optimizations(?:_\w+)*|after_codegen|before_codegen)"
_SUFFIX = r"(?:\.hlo)?\.(?:txt|hlo|pb)(?:\.gz)?"
_HLO = re.compile(
    r"^(?:(?P<before>[\w\-]+)[.-])??module_(?P<id>\d+)(?P<name>(?:\.[^/]+?)??)"
    r"\.(?:(?P<number>\d{3,})\.(?P<pipeline>[^/]+?)\.after_(?P<after>[^/]+?)(?:\.before_(?P<next>[^/]+?))?"
    rf"|(?P<stage>{_STAGES}))"
    rf"{_SUFFIX}$")
_MLIR = re.compile(r"^(?P<number>\d+(?:[_.\-]\d+)*)[_.\-]+(?P<name>[^/]+?)\.(?:mlir|mlirbc)(?:\.gz)?$")
_MLIR_OF_MODULE = re.compile(
    r"^(?:(?P<before>[\w\-]+)[.-])??module_(?P<id>\d+)(?P<name>(?:\.[^/]+?)??)"
    r"\.(?P<number>\d+)[._\-](?P<pass>[^/]+?)\.(?:mlir|mlirbc)(?:\.gz)?$")
#: parts of module names that say when or where a module was compiled, not what it is called
_WHERE = re.compile(r"^\.?(?:thread|tid|pid|cl|host|replica|task)[_\-]?\d+(?=\.|$)")
#: the change list of the compiler, at the end of a module's name
_LIST = re.compile(r"\.cl_\d+$")
#: what else compilers leave in such folders
_BESIDE = re.compile(
    r"(buffer-assignment|live-range|memory-usage-report|thunk_sequence|thunk_graph|debug_options|\.ll$|\.o$|\.ptx$|"
    r"\.cubin$|\.s$|\.asm$|\.textproto$|\.json$|\.html$|\.dot$|\.svg$|\.log$|\.md$|\.toml$|\.py$|\.npz$|\.csv$|"
    r"hlo_snapshot|config\.pbtxt$|gpu_target_config|autotune_results|buffer_info|\.metadata|execution_options|"
    r"compile_options|cpu_executable|flops|\.bin$|\.so$|\.cc$|\.h$)")


@dataclass(frozen=True)
class DumpName:
    """What a file's name says. Names of one `module` belong to one chain, ordered by `rank`."""

    #: what is before the module's number, the number, and the module's name; for MLIR the folder
    stamp: str
    number: int
    module: str
    rank: tuple[int, ...]
    pipeline: str
    #: the pass that the dump was made after, and the one that it was made before; "" where there is none
    after: str
    before: str

    @property
    def is_start(self) -> bool:
        """Whether no pass has changed the module yet."""
        return self.after in ("before_optimizations", "input")


def dump_name(filename: str) -> DumpName | None:
    """What the name of a file (without folders) says; None: it is no dump between passes."""
    found = _HLO.match(filename)
    if found is not None:
        stamp, module = _of_module(found)
        if found["stage"]:
            stage = found["stage"]
            first = stage.endswith("before_optimizations")
            rank = (0,) if first else (2, stage.count("after"), len(stage))
            return DumpName(stamp, int(found["id"]), module, rank, "", "before_optimizations" if first else stage, "")
        return DumpName(stamp, int(found["id"]), module, (1, int(found["number"])), found["pipeline"], found["after"],
                        found["next"] or "")
    found = _MLIR_OF_MODULE.match(filename)
    if found is not None:
        stamp, module = _of_module(found)
        return DumpName(stamp, int(found["id"]), module, (1, int(found["number"])), "mlir", _pass(found["pass"]), "")
    found = _MLIR.match(filename)
    if found is not None:
        numbers = tuple(int(n) for n in re.split(r"[_.\-]", found["number"]))
        return DumpName("", 0, "", (1, *numbers), "mlir", _pass(found["name"]), "")
    return None


def is_beside(filename: str) -> bool:
    """Whether a file is something that compilers leave beside dumps of modules."""
    return _BESIDE.search(filename) is not None


def _of_module(found: re.Match[str]) -> tuple[str, str]:
    stamp, name = [found["before"] or ""], found["name"]
    while where := _WHERE.match(name):
        stamp.append(where[0].lstrip("."))
        name = name[where.end():]
    name = _LIST.sub("", name)
    return ".".join(s for s in stamp if s), name.lstrip(".")


def _pass(name: str) -> str:
    """The pass of an MLIR dump's name: `after-cse` and `cse` are one."""
    return re.sub(r"^(?:after|post)[_\-]", "", name)
