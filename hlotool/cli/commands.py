"""The commands, by what one wants of them; each is a module of this room with add_arguments(parser) and run(args)."""

from __future__ import annotations

#: what one wants -> command -> what it does
GROUPS = {
    "check": {
        "lint": "report all that is wrong or dubious, by rule, and fix it",
        "explain": "describe an operation or a diagnostic's code",
        "ops": "list the operations",
        "folds": "rewrites of simplifiers, proved or refuted",
    },
    "convert": {
        "fmt": "print modules in one format",
        "convert": "HLO to StableHLO, StableHLO to HLO",
        "opt": "run passes over modules: legalise old forms, remove what is dead",
        "shrink": "a partitioned program for fewer devices, if axes only repeat",
        "py": "print modules as Python code that builds them, or as JAX code",
    },
    "run and judge": {
        "run": "execute a module",
        "compare": "compare a module's values on two executors, or two modules",
        "isolate": "name the instruction that makes NaN, or where two executors part",
        "bisect": "name the pass of a dump folder that changes what is computed",
        "hang": "in which collective devices wait, by a watchdog's log and dumps",
        "reduce": "make a module that shows a failure as small as it can be",
        "bundle": "a failure in one archive, which shows it again",
        "fuzz": "look for the next bug: random programs, judged and made small",
        "roundtrip": "read, print, convert there and back, run and compare",
        "conform": "run conformance cases on executors and report",
    },
    "look": {
        "view": "a module as a page: its graph, folded, with the text beside it",
        "diff": "what differs between two modules, matched by structure",
        "versions": "which StableHLO version a program needs, and what asks for it",
        "cost": "flops, traffic, memory and communication of a module",
        "docs": "write or serve the manual",
    },
    "look at many": {
        "corpus": "one task on every file of folders, archives and object stores",
        "find": "ask an index of many modules for instructions",
    },
    "serve": {
        "lsp": "start the language server for editors",
        "mcp": "start a server of tools for agents",
        "completion": "let a shell complete commands, options and files",
    },
}
COMMANDS = {name: what for group in GROUPS.values() for name, what in group.items()}
#: programs that are one command
PROGRAMS = {"hlo-lint": "lint", "hlo-to-stablehlo": "convert", "hlo-conformance": "conform"}
