"""A module of calls that multiply: of 60 levels nothing comes to the end."""

from __future__ import annotations


def doubling_calls(depth: int) -> str:
    """A computation at each level that calls the one below twice."""
    text = ["HloModule doubling", "c0 {\n  x = f32[] parameter(0)\n  ROOT y = f32[] sine(x)\n}"]
    for n in range(1, depth):
        text.append(f"c{n} {{\n  x = f32[] parameter(0)\n  y = f32[] call(x), to_apply=c{n - 1}\n"
                    f"  ROOT z = f32[] call(y), to_apply=c{n - 1}\n}}")
    text.append(f"ENTRY e {{\n  x = f32[] parameter(0)\n  ROOT z = f32[] call(x), to_apply=c{depth - 1}\n}}")
    return "\n".join(text)
