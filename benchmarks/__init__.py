"""Measure CPU time against other libraries, peak memory and growth: `python -m benchmarks [section ...] [--short]`.

A section is a module in `benchmarks/sections` with a docstring and a function `run(short: bool) -> Iterator[Table]`. It
measures with `benchmarks.measure` and yields a `Table`, which is printed and kept in `benchmarks/results`.
"""
