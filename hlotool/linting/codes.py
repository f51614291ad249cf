"""Codes of what linting says about itself: its configuration, suppressions, baselines, plug-ins."""

from hlotool.diagnostics import define

BAD_FILE = define("C001", "unreadable-configuration", "a configuration file that cannot be read or is no TOML")
UNKNOWN_SETTING = define("C002", "unknown-setting", "a setting that does not exist")
BAD_SETTING = define("C003", "bad-setting", "a setting with a value of the wrong type, or one that is not allowed")
UNKNOWN_RULE = define("C004", "unknown-rule", "a code, name or category that no rule has")
BAD_PLUGIN = define("C005", "bad-plug-in", "rules of an installed package that cannot be loaded")
BAD_BASELINE = define("C006", "bad-baseline", "a baseline that cannot be read")
UNUSED_SUPPRESSION = define("C010", "unused-suppression", "a comment that suppresses a finding that there is not")
BAD_SUPPRESSION = define("C011", "bad-suppression", "a comment to the linter that cannot be read")
NO_REASON = define("C012", "suppression-without-reason", "a suppression that does not say why")
NOT_FIXABLE = define("C013", "not-fixable", "a file whose text cannot be rewritten in its place")
INTERNAL = define("C020", "internal-error", "hlotool itself failed on this file")
WORKER_DIED = define("C021", "worker-died", "the process that looked at this file was ended from outside")
