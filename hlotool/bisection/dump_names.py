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

# File names come from whoever made the folder, so each is cut in one pass, piece by piece: one pattern for a whole name
# would try every way to share it among its parts.
#: stages outside of numbered passes, in their order: before all passes, and after them
_STAGE = re.compile(r"\.(?P<stage>(?:(?:sm_[\d.]++\w*?_|gfx[\w:+\-]+?_)?[a-z]+_)?"
                    r"(?:before_optimizations|after_optimizations(?:_\w+)?|after_codegen|before_codegen))\Z")
_HLO_SUFFIX = re.compile(r"(?:\.hlo)?\.(?:txt|hlo|pb)(?:\.gz)?\Z")
_MLIR_SUFFIX = re.compile(r"\.(?:mlir|mlirbc)(?:\.gz)?\Z")
_MODULE = re.compile(r"(?:(?P<before>[\w\-]+)[.-])??module_(?P<id>\d++)(?=\.)")
_NUMBER = re.compile(r"\.(?P<number>\d{3,}+)\.")
_NUMBER_OF_MLIR = re.compile(r"\.(?P<number>\d++)[._\-](?P<pass>.)", re.S)
_MLIR = re.compile(r"(?P<number>\d++(?:[_.\-]\d++)*)[_.\-]+(?P<name>.+)", re.S)
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
    module = _MODULE.match(filename)
    if (suffix := _HLO_SUFFIX.search(filename)) is not None:
        return _of_hlo(module, filename[module.end():suffix.start()]) if module is not None else None
    if (suffix := _MLIR_SUFFIX.search(filename)) is None:
        return None
    if module is not None and (found := _NUMBER_OF_MLIR.search(filename, module.end(), suffix.start())) is not None:
        stamp, name = _of_module(module, filename[module.end():found.start()])
        after = _pass(filename[found.start("pass"):suffix.start()])
        return DumpName(stamp, int(module["id"]), name, (1, int(found["number"])), "mlir", after, "")
    if (found := _MLIR.fullmatch(filename, 0, suffix.start())) is not None:
        numbers = tuple(int(n) for n in re.split(r"[_.\-]", found["number"]))
        return DumpName("", 0, "", (1, *numbers), "mlir", _pass(found["name"]), "")
    return None


def _of_hlo(module: re.Match[str], rest: str) -> DumpName | None:
    """What a name says in `rest`, between the module's number and the suffix."""
    number, stage = _NUMBER.search(rest), _STAGE.search(rest)
    cut = rest.find(".after_", number.end() + 1) if number is not None else -1
    after, between, before = rest[cut + len(".after_"):].partition(".before_") if cut >= 0 else ("", "", "")
    if number is not None and after and (stage is None or number.start() < stage.start()):
        if between and not before:
            after += between
        stamp, name = _of_module(module, rest[:number.start()])
        return DumpName(stamp, int(module["id"]), name, (1, int(number["number"])), rest[number.end():cut], after,
                        before)
    if stage is None:
        return None
    stamp, name = _of_module(module, rest[:stage.start()])
    said = stage["stage"]
    first = said.endswith("before_optimizations")
    rank = (0,) if first else (2, said.count("after"), len(said))
    return DumpName(stamp, int(module["id"]), name, rank, "", "before_optimizations" if first else said, "")


def is_beside(filename: str) -> bool:
    """Whether a file is something that compilers leave beside dumps of modules."""
    return _BESIDE.search(filename) is not None


def _of_module(found: re.Match[str], name: str) -> tuple[str, str]:
    """The stamps of a module, and its name without them."""
    stamp = [found["before"] or ""]
    while where := _WHERE.match(name):
        stamp.append(where[0].lstrip("."))
        name = name[where.end():]
    name = _LIST.sub("", name)
    return ".".join(s for s in stamp if s), name.lstrip(".")


def _pass(name: str) -> str:
    """The pass of an MLIR dump's name: `after-cse` and `cse` are one."""
    return re.sub(r"^(?:after|post)[_\-]", "", name)
