"""`python -m benchmarks [section ...] [--short]`."""

import argparse
import os
import pkgutil
from importlib import import_module

# One thread each: a ratio of CPU times should not depend on how many cores a library uses.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from rich.console import Console  # noqa: E402

from benchmarks import sections  # noqa: E402


def main() -> None:
    names = sorted(module.name for module in pkgutil.iter_modules(sections.__path__))
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="CPU time, peak memory and growth.")
    parser.add_argument("sections", nargs="*", metavar="section", help=f"any of: {', '.join(names)} (default: all)")
    parser.add_argument("--short", action="store_true", help="smaller sizes; results are not kept")
    arguments = parser.parse_args()
    if unknown := set(arguments.sections) - set(names):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    console = Console(width=None if os.isatty(1) else 120)
    for name in arguments.sections or names:
        section = import_module(f"benchmarks.sections.{name}")
        console.rule(f"{name}: {(section.__doc__ or '').strip().splitlines()[0]}")
        for table in section.run(short=arguments.short):
            table.show(console)
            if not arguments.short:
                table.write()


if __name__ == "__main__":
    main()
