#!/bin/sh
# Zed: hlotool lsp --print-config zed | sh
# Writes an extension into ~/hlotool-zed. Zed builds it (Rust by rustup is needed) with the command
# `zed: install dev extension`, which asks for the folder.
set -eu
folder="${HLOTOOL_ZED:-$HOME/hlotool-zed}"
mkdir -p "$folder/src" "$folder/languages/hlo" "$folder/languages/mlir"
cd "$folder"
cat > extension.toml <<'END'
id = "hlotool"
name = "HLO"
description = "HLO and StableHLO: findings, hover, names, completion and formatting by hlotool"
version = "1.0.0"
schema_version = 1
authors = ["The hlotool authors"]

[language_servers.hlotool]
name = "hlotool"
languages = ["HLO", "MLIR"]
END
cat > languages/hlo/config.toml <<'END'
name = "HLO"
path_suffixes = ["hlo", "hlo.txt"]
first_line_pattern = '^HloModule\s'
line_comments = ["// "]
tab_size = 2
END
cat > languages/mlir/config.toml <<'END'
name = "MLIR"
path_suffixes = ["mlir"]
line_comments = ["// "]
tab_size = 2
END
cat > Cargo.toml <<'END'
[package]
name = "hlotool-zed"
version = "1.0.0"
edition = "2021"

[lib]
crate-type = ["cdylib"]

[dependencies]
zed_extension_api = "0.7"
END
cat > src/lib.rs <<'END'
use zed_extension_api::{self as zed, Command, LanguageServerId, Result, Worktree};

struct Hlotool;

impl zed::Extension for Hlotool {
    fn new() -> Self {
        Hlotool
    }

    fn language_server_command(&mut self, _: &LanguageServerId, tree: &Worktree) -> Result<Command> {
        let command = tree.which("hlotool").unwrap_or_else(|| @COMMAND@.to_string());
        Ok(Command { command, args: vec!["lsp".to_string()], env: tree.shell_env() })
    }
}

zed::register_extension!(Hlotool);
END
echo "in Zed: 'zed: install dev extension', folder $folder"
