"""Names of files in dump folders: module, stage or pass, place in the compilation; and the files that hold no module.

    module_0012.jit_f.before_optimizations.txt
    module_0012.jit_f.0011.simplification.after_algsimp.before_simplify-sorts.txt
    module_0012.jit_f.0052.copy-insertion.after_adding_special-case_copies.txt     a step within a pass
    1731000000000000.module_0012.jit_f.sm_9.0_gpu_after_optimizations.txt          a time stamp in front
    module_0012.jit_f.gfx942_gpu_after_optimizations.hlo.pb.gz
    module_0012.thread_7.jit_f.0003.fusion.after_priority-fusion.before_dce.txt.gz
    module_0012.jit_f.cl_813921542.after_optimizations_before_buffer_assignment.txt    libtpu: change list, no target
    module_0012.before_optimizations.txt                                           the name would be too long
    3_1_canonicalize.mlir, 02-after-cse.mlir                                        passes of MLIR

Sources: XLA, xla/service/dump.cc (FilenameFor, DumpHloModuleBetweenPassesIfEnabled, DumpHloModuleDuringPassIfEnabled);
names that users quote in issues of openxla/xla and jax; MLIR's --mlir-print-ir-tree-dir.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from hlotool.ir import deferred

# File names come from whoever made the folder, so each is cut in one pass, piece by piece: one pattern for a whole name
# would try every way to share it among its parts.
_HLO_SUFFIX = deferred(lambda: r"(?:\.hlo)?\.(?:txt|hlo|pb)(?:\.gz)?\Z")
_MLIR_SUFFIX = deferred(lambda: r"\.(?:mlir|mlirbc)(?:\.gz)?\Z")
_MODULE = deferred(lambda: r"(?:\A|(?<=[.\-]))module_(?P<id>\d++)(?=\.)")
#: the last part of a name outside of numbered passes: a target, and the stage
_STAGE = deferred(
    lambda: r"(?:\A|_)(?P<stage>before_optimizations|after_optimizations(?:_\w+)?|(?:before|after)_codegen)\Z")
#: the first half of a target that has a point in it: sm_9.0a_gpu
_TARGET_START = deferred(lambda: r"(?:\A|\.)sm_\d++\Z")
_TARGET = deferred(lambda: r"[\w:+\-]*\Z")
_NUMBER = deferred(lambda: r"\.(?P<number>\d{3,}+)\.")
_DURING = deferred(lambda: r"(?P<pass>[^.]++)\.(?P<step>before[_\-][^.]++)\Z")
_NUMBER_OF_MLIR = deferred(lambda: r"\.(?P<number>\d++)[._\-](?P<pass>.)", re.S)
_MLIR = deferred(lambda: r"(?P<number>\d++(?:[_.\-]\d++)*)[_.\-]+(?P<name>.+)", re.S)
#: parts of module names that tell when or where a module was compiled
_WHERE = deferred(lambda: r"^\.?(?:thread|tid|pid|cl|host|replica|task)[_\-]?\d+(?=\.|$)")
#: the change list of the compiler, at the end of a module's name
_LIST = deferred(lambda: r"\.cl_\d+$")

#: parts of the names of files that compilers write beside modules -> kind; in files with the number of a module
_OTHERS: Mapping[str, str] = {
    "buffer-assignment": "buffer assignment", "live-range": "live ranges", "memory-usage-report": "memory usage",
    "memory-report": "memory usage", "buffer_info": "buffers",
    "hlo_snapshot": "arguments", "hlo_unoptimized_snapshot": "arguments",
    "target_arguments": "arguments", "execution_profile": "profiles", "autotune_results": "autotuning results",
    "hlo_metadata": "metadata", "sparse_core_specific_metadata": "metadata", ".metadata": "metadata",
    **dict.fromkeys(("thunk_sequence", "thunk-sequence", "thunk_graph", "thunk_schedule", "thunk_metadata"), "thunks"),
    **dict.fromkeys(("debug_options", "flagfile", "execution_options", "hlo_module_config", "tpu_comp_env",
                     "compile_options", "gpu_target_config", "topology"), "options"),
    **dict.fromkeys(("priority_fusion_dump", "fusion_process_dump"), "fusion decisions"),
    **dict.fromkeys((".ttir", ".ttgir"), "Triton's IR"), "cpu_executable": "object files", "mlir-passes": "logs",
    **dict.fromkeys(("pre-optimization.mlir", "post-optimization.mlir"), "MLIR of kernels"),
}
#: such files that PJRT writes into a folder for each program, without the number of the module
_OF_A_PROGRAM = frozenset({"compile_options.pb", "topology.pb"})
#: endings of such files -> kind
_OTHER_ENDINGS: Mapping[str, str] = {
    ".ll": "LLVM IR", ".bc": "LLVM IR", ".o": "object files", ".so": "object files", ".bin": "other files",
    ".cubin": "object files", ".hsaco": "object files", ".s": "assembly", ".asm": "assembly", ".ptx": "assembly",
    ".msl": "assembly", ".dot": "graphs", ".html": "graphs", ".svg": "graphs", ".url": "graphs",
    ".textproto": "options", ".pbtxt": "options", ".toml": "options", ".json": "JSON", ".log": "logs",
    ".md": "documents", ".csv": "tables", ".npz": "arrays", ".py": "source code", ".cc": "source code",
    ".h": "source code",
}


@dataclass(frozen=True, slots=True)
class DumpName:
    """The parts of the name of a dumped module. Names of one `module` belong to one chain, ordered by `rank`."""

    #: the text before the module's number, and parts of its name that tell when or where it was compiled
    stamp: str
    number: int
    #: empty for MLIR, and where XLA left it out
    module: str
    #: (0,) before all passes, (1, number) between passes, more after them
    rank: tuple[int, ...]
    #: the pipeline, or the pass of a step within a pass; `mlir` for MLIR
    pipeline: str
    #: the pass that the dump was made after, and the one that it was made before; "" where there is none
    after: str
    before: str
    #: the backend and architecture, where the name tells them: `cpu`, `gfx942_gpu`, `sm_9.0_gpu`
    target: str = ""

    @property
    def is_start(self) -> bool:
        """True if no pass has changed the module yet."""
        return self.after in ("before_optimizations", "input")

    @property
    def is_mlir(self) -> bool:
        """True for a stage of MLIR's."""
        return self.pipeline == "mlir"

    @property
    def stage(self) -> str:
        """One of before_optimizations, between_passes, after_optimizations."""
        return ("before_optimizations", "between_passes", "after_optimizations")[min(self.rank[0], 2)]

    @property
    def step(self) -> int:
        """The number of the dump between passes; -1 outside of them."""
        return self.rank[1] if self.rank[0] == 1 else -1

    @property
    def maker(self) -> str:
        """The pass, or the part of the compilation, that made the module as it is here."""
        if self.rank[0] == 0:
            return "the frontend"
        if self.rank[0] > 1:
            return "what follows the last dumped pass"
        if self.after == "pipeline-start":
            return f"what precedes {self.pipeline}"
        return self.after if self.is_mlir else f"{self.after} in {self.pipeline}"


def dump_name(filename: str) -> DumpName | None:
    """Return the parts of a file name (without folders); None where it is not the name of a dumped module.

    >>> dump_name("module_0003.jit_f.0007.simplification.after_algsimp.before_dce.txt").maker
    'algsimp in simplification'
    >>> dump_name("module_0001.jit_f.gfx942_gpu_after_optimizations.txt").target
    'gfx942_gpu'
    """
    module = _MODULE.search(filename)
    if (suffix := _HLO_SUFFIX.search(filename)) is not None:
        return _of_hlo(filename, module, suffix.start()) if module is not None else None
    if (suffix := _MLIR_SUFFIX.search(filename)) is None:
        return None
    if module is not None:
        found = _NUMBER_OF_MLIR.search(filename, module.end(), suffix.start())
        if found is None or other_kind(filename):
            return None
        stamp, name = _of_module(filename, module, found.start())
        after = _pass(filename[found.start("pass"):suffix.start()])
        return DumpName(stamp, int(module["id"]), name, (1, int(found["number"])), "mlir", after, "")
    if (found := _MLIR.fullmatch(filename, 0, suffix.start())) is not None:
        numbers = tuple(int(n) for n in re.split(r"[_.\-]", found["number"]))
        return DumpName("", 0, "", (1, *numbers), "mlir", _pass(found["name"]), "")
    return None


def _of_hlo(filename: str, module: re.Match[str], end: int) -> DumpName | None:
    """Return the parts of the name of a file of HLO, whose suffix begins at `end`."""
    rest = filename[module.end():end]
    number, stage = _NUMBER.search(rest), _last_part(rest)
    if number is not None and (stage is None or number.start() < stage[0]):
        cut = rest.find(".after_", number.end() + 1)
        during = _DURING.match(rest, number.end()) if cut < 0 and stage is None else None
        after, between, before = rest[cut + len(".after_"):].partition(".before_") if cut >= 0 else ("", "", "")
        if after or during is not None:
            stamp, name = _of_module(filename, module, module.end() + number.start())
            pipeline = during["pass"] if during is not None else rest[number.end():cut]
            return DumpName(stamp, int(module["id"]), name, (1, int(number["number"])), pipeline,
                            during["step"] if during is not None else after + (between if not before else ""), before)
    if stage is None:
        return None
    start, target, said = stage
    stamp, name = _of_module(filename, module, module.end() + start)
    label = rest[start + 1:]
    if said == "before_optimizations":
        return DumpName(stamp, int(module["id"]), name, (0,), "", said, "", target)
    rank = (3, said.count("after")) if "codegen" in said else (2, said.count("after"), len(label))
    return DumpName(stamp, int(module["id"]), name, rank, "", label, "", target)


def _last_part(rest: str) -> tuple[int, str, str] | None:
    """Return (start, target, stage) of the part of a name that tells a stage; None where its last part tells none."""
    start = rest.rfind(".")
    found = _STAGE.search(rest[start + 1:]) if start >= 0 else None
    if found is None:
        return None
    if (half := _TARGET_START.search(rest, max(0, rest.rfind(".", 0, start)), start)) is not None:
        start = half.start()
    target = rest[start + 1:len(rest) - len(found["stage"])].removesuffix("_")
    return (start, target, found["stage"]) if _TARGET.match(target.replace(".", "", 1)) else None


def without_suffix(filename: str) -> str:
    """Return a file name without the suffix of its form: what the same module as text and as protobuf share."""
    found = _HLO_SUFFIX.search(filename)
    return filename[:found.start()] if found is not None else filename


def other_kind(filename: str, is_in_dump: bool = False) -> str:
    """Return the kind of a file of a dump folder that holds no module; "" for one that may hold one.

    Texts are known by words in their names if these have the number of a module, or are in a folder of dumps
    (`is_in_dump`); other files by their endings.

    >>> other_kind("module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt")
    'buffer assignment'
    """
    name = os.path.basename(filename).removesuffix(".gz")
    if not name.endswith((".hlo", ".hlo.txt")) and (
            is_in_dump or name in _OF_A_PROGRAM or _MODULE.search(name)):
        found = next((kind for word, kind in _OTHERS.items() if word in name), "")
        if found and not _is_stage_of_module(name):
            return found
    return _OTHER_ENDINGS.get(os.path.splitext(name)[1], "")


def _is_stage_of_module(name: str) -> bool:
    """Return True if the word of an other file is only a part of the name of a dumped module."""
    suffix = _HLO_SUFFIX.search(name)
    return suffix is not None and (module := _MODULE.search(name)) is not None \
        and _of_hlo(name, module, suffix.start()) is not None


def _of_module(filename: str, found: re.Match[str], end: int) -> tuple[str, str]:
    """Return the stamps of a module, and its name without them."""
    stamp, name = [filename[:found.start()].rstrip(".-")], filename[found.end():end]
    while where := _WHERE.match(name):
        stamp.append(where[0].lstrip("."))
        name = name[where.end():]
    name = _LIST.sub("", name)
    return ".".join(s for s in stamp if s), name.lstrip(".")


def _pass(name: str) -> str:
    """Return the pass of an MLIR dump's name: `after-cse` and `cse` are one."""
    return re.sub(r"^(?:after|post)[_\-]", "", name)
