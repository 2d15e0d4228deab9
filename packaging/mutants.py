"""Change the code at random places and list the changes that no test notices: `make mutants`, elsewhere with `SEED=1`.

Each module is tested by its own examples and by the files beside it here. cosmic-ray finds the places and makes the
changes; each change is tested in a process of its own, forked from one that has imported the libraries, so that most
take a second or two. No file is changed.
"""

import argparse
import ast
import os
import random
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTED_BY = {
    "casework/decision": "tests/casework/test_decision.py",
    "conformal": "tests/test_conformal.py tests/test_conformal_calibration.py",
    "calibration": "tests/test_calibration.py tests/test_ordered.py"
    " --deselect tests/test_calibration.py::test_scikit_learn_contract",
    "neighbor_distances": "tests/test_neighbor_tocc.py tests/test_neighbor_distances.py",
    "neighbor_tocc": "tests/test_neighbor_tocc.py tests/test_sliding_window.py tests/test_categories.py",
    "depth/counting": "tests/depth/test_counting.py",
    "depth/probability": "tests/depth/test_probability.py",
}
LIBRARIES = ["joblib", "matplotlib.pyplot", "pandas", "scipy.stats", "sklearn.ensemble", "sklearn.model_selection"]
LIBRARIES += ["sklearn.neighbors", "sklearn.utils.estimator_checks"]
_CPU_SECONDS, _SECONDS = 120, 1200  # after which a change counts as noticed: it runs or waits forever


class Changed(MetaPathFinder, SourceFileLoader):
    """Give one module another source."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Offer this source for the module only."""
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname: str) -> object:
        """Compile the changed source."""
        return compile(self.source, self.path, "exec")


def changes(source: str) -> Iterator[tuple[int, str, Callable[[], str]]]:
    """List row and kind of every change, and a function that makes it; signatures, which are types, are left out."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    skipped = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first, body = min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.body[0].lineno
            skipped |= set(range(first, max(body, node.lineno + 1)))  # the body of an overload is on its line
    for name in operator_names():
        if (kind := get_operator(name)).arguments():
            continue
        operator, places = kind(), get_ast(source)
        found = [start for node in ast_nodes(places) for start, _ in operator.mutation_positions(node)]
        for i, (row, _) in enumerate(found):
            if row not in skipped:
                yield row, name.split("/")[-1], lambda operator=operator, i=i: mutate_code(source, operator, i)


def survives(module: str, source: str) -> bool:
    """Return whether the tests of a module pass with another source."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    try:
        signal.alarm(_SECONDS)
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        path = ROOT / "src" / "transvariation" / f"{module}.py"
        changed = Changed("transvariation." + module.replace("/", "."), str(path))
        changed.source = source
        sys.meta_path.insert(0, changed)
        import_module(changed.name)
        import pytest

        code = pytest.main(["-q", "-x", "-n", "0", "-p", "no:cacheprovider", *TESTED_BY[module].split(), str(path)])
        os._exit(int(code))
    finally:
        os._exit(1)


def main(modules: list[str], seed: int, size: int = 60) -> None:
    """List the survivors of `size` changes of each module; by default of all modules of the table."""
    os.chdir(ROOT)
    for library in LIBRARIES:
        import_module(library)
    for module in modules or TESTED_BY:
        source = (ROOT / "src" / "transvariation" / f"{module}.py").read_text(encoding="utf-8")
        assert survives(module, source), f"the tests of {module} fail without a change"
        every = list(changes(source))
        chosen = sorted(random.Random(seed).sample(every, min(size, len(every))), key=lambda each: each[:2])
        left = 0
        for row, kind, change in chosen:
            changed = change()
            if survives(module, changed):
                left += 1
                print(f"{module}, line {row}, {kind}", flush=True)
                for sign, text in (("-", source), ("+", changed)):
                    print(f"  {sign} {text.splitlines()[row - 1].strip()}", flush=True)
        print(f"{module}: {left} of {len(chosen)} changes were not noticed by {TESTED_BY[module]}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help=", ".join(TESTED_BY))
    parser.add_argument("--seed", type=int, default=0)
    main(**vars(parser.parse_args()))
