"""The commands, by what one wants of them; each is a module of this room with add_arguments(parser) and run(args)."""

from __future__ import annotations

#: what one wants -> command -> what it does
GROUPS = {
    "check": {
        "lint": "report mistakes and doubtful code, by rule, and fix them",
        "explain": "describe an operation or a diagnostic's code",
        "ops": "list the operations",
        "folds": "list rewrites of simplifiers, proved or refuted",
    },
    "convert": {
        "fmt": "print modules in one layout",
        "convert": "convert HLO to StableHLO, and StableHLO to HLO",
        "opt": "run passes over modules: legalise old forms, remove what is dead",
        "shrink": "make a partitioned program for fewer devices, if axes only repeat",
        "py": "print modules as Python code that builds them, or as JAX code",
    },
    "run and judge": {
        "run": "execute a module",
        "compare": "compare a module's values on two executors, or two modules",
        "isolate": "name the instruction that makes NaN, or where two executors part",
        "bisect": "name the pass of a dump folder that changes what is computed",
        "hang": "name the collective in which devices wait, from a watchdog's log",
        "reduce": "make a module that shows a failure as small as it can be",
        "bundle": "put a failure into one archive, which shows it again",
        "fuzz": "look for the next bug: random programs, judged and made small",
        "roundtrip": "read, print, convert there and back, run and compare",
        "conform": "run conformance cases on executors and report",
    },
    "look": {
        "view": "draw a module as a page: its folded graph beside its text",
        "diff": "list what differs between two modules, matched by structure",
        "versions": "tell which StableHLO version a program needs, and why",
        "cost": "count flops, traffic, memory and communication of a module",
        "docs": "write or serve the manual",
    },
    "look at many": {
        "corpus": "run a task on every file of folders, archives and object stores",
        "find": "find instructions in modules, or in an index of many",
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
