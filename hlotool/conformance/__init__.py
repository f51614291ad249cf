"""The conformance runner."""
