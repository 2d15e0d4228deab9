"""Change the code at random places and list the changes that no test notices: `make mutants`.

Each module is tested by its own examples and by the files beside it here. cosmic-ray works on a copy of the repository,
so that an interrupted run leaves no changed code behind.
"""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

TESTED_BY = {
    "casework/decision": "tests/casework/test_decision.py",
    "conformal": "tests/test_conformal.py tests/test_conformal_calibration.py",
    "calibration": "tests/test_calibration.py tests/test_ordered.py",
    "neighbor_tocc": "tests/test_neighbor_tocc.py",
    "depth/probability": "tests/depth/test_probability.py",
}
CONFIG = """[cosmic-ray]
module-path = "src/transvariation/{module}.py"
timeout = 120.0
excluded-modules = []
test-command = "{python} -m pytest -q -x -n 0 -p no:cacheprovider {tests} src/transvariation/{module}.py"
[cosmic-ray.distributor]
name = "local"
"""
SURVIVED = """select operator_name, start_pos_row from work_results join mutation_specs using (job_id)
where test_outcome = 'SURVIVED' order by start_pos_row"""


def main(modules: list[str], size: int = 60) -> None:
    """List the survivors of `size` changes of each module; by default of all modules of the table."""
    root = Path(__file__).parents[1]
    copy = root / "build" / "mutants"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".git", ".venv", "build", "dist"))
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "OMP_NUM_THREADS": "1"}
    for module in modules or TESTED_BY:
        config, session = copy / "mutants.toml", copy / "mutants.sqlite"
        session.unlink(missing_ok=True)
        config.write_text(CONFIG.format(module=module, tests=TESTED_BY[module], python=sys.executable))
        lines = (copy / f"src/transvariation/{module}.py").read_text(encoding="utf-8").splitlines()
        run = [sys.executable, "-m", "cosmic_ray.cli"]
        subprocess.run([*run, "init", config, session], cwd=copy, check=True)
        with sqlite3.connect(session) as table:
            specs = sorted(table.execute("select job_id, start_pos_row from mutation_specs"))
            # What a signature says about types changes nothing that a test could notice.
            jobs = [job for job, row in specs if not lines[row - 1].lstrip().startswith(("def ", "@"))]
            chosen = set(random.Random(0).sample(jobs, min(size, len(jobs))))
            for name in ("mutation_specs", "work_items"):
                others = [(job,) for job, _ in specs if job not in chosen]
                table.executemany(f"delete from {name} where job_id = ?", others)
        subprocess.run([*run, "exec", config, session], cwd=copy, env=environment, check=True)
        with sqlite3.connect(session) as table:
            survivors = table.execute(SURVIVED).fetchall()
        print(f"{module}: {len(survivors)} of {len(chosen)} changes were not noticed by {TESTED_BY[module]}")
        for operator, row in survivors:
            print(f"  line {row}, {operator.split('/')[-1]}: {lines[row - 1].strip()}")


if __name__ == "__main__":
    main(sys.argv[1:])
