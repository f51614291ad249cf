"""Configuration files: settings, or located diagnostics."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from fuzzing import ROOT
from mutations import OF_TEXT, mutant
from oracle import check_diagnostics, refusal

from hlotool.diagnostics import HloError
from hlotool.linting import read_config

_START = [
    'select = ["W1", "W2"]\nignore = ["W105"]\nprofile = "gpu"\n',
    'fail-on = "warning"\nrequire-reason = true\nbaseline = "b.json"\nplugins = false\n',
    '[severity]\nW105 = "error"\n[per-file-ignores]\n"*.before.hlo" = ["W1"]\n',
    '[[overrides]]\nfiles = ["a/*.hlo"]\nselect = ["ALL"]\nprofile = "cpu"\n',
    '[profiles.mine]\nprofile = "gpu"\nselect = ["W"]\n[rules.W101]\n',
    '[tool.hlotool]\nselect = ["ALL"]\n',
]


class Configuration:
    """A file as hlotool.toml: read, or refused at a place."""

    name = "config"

    def corpus(self) -> list[bytes]:
        return [*(text.encode() for text in _START), (ROOT / "pyproject.toml").read_bytes()]

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        return mutant(rng, corpus, OF_TEXT)

    def check(self, data: bytes) -> str:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "hlotool.toml"
            file.write_bytes(data)
            try:
                settings = read_config(file, is_chosen=len(data) % 2 == 0)
            except HloError as error:
                check_diagnostics(refusal(error))
                return "refused"
            settings.of_file(str(file.with_name("a.before.hlo")))
        return "read"
