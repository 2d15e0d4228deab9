"""What it costs: CPU time against named peers, peak memory, growth. `python -m benchmarks [section ...] [--short]`.

A section is a module in `benchmarks/sections` with a docstring and a function `run(short: bool) -> Iterator[Table]`. It
measures with `benchmarks.measure` and says so in a `Table`, which is printed and kept in `benchmarks/results`.
"""
