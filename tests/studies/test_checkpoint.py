"""Every task is run once, whatever interrupts the run."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from transvariation.studies.checkpoint import Checkpoint, CheckpointError

HEADER = {"study": "squares", "seed": 0}
TASKS = [(i,) for i in range(12)]


def _square(i):
    return {"square": i * i}


def _drain(checkpoint, jobs=1):
    return [task for task in checkpoint.run(TASKS, _square, jobs)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_task_is_run_once(tmp_path, jobs):
    checkpoint = Checkpoint(tmp_path / "checkpoint.jsonl", HEADER)
    assert sorted(_drain(checkpoint, jobs)) == TASKS
    assert checkpoint.results[(3,)] == {"square": 9}
    assert _drain(Checkpoint(tmp_path / "checkpoint.jsonl", HEADER)) == []


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_task_with_an_incomplete_line_is_run_again(tmp_path, cut):
    path = tmp_path / "checkpoint.jsonl"
    _drain(Checkpoint(path, HEADER))
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    checkpoint = Checkpoint(path, HEADER)
    assert checkpoint.missing(TASKS) == [(11,)]
    _drain(checkpoint)
    assert path.read_bytes() == whole


def test_results_of_another_study_are_refused(tmp_path):
    path = tmp_path / "checkpoint.jsonl"
    Checkpoint(path, HEADER)
    with pytest.raises(CheckpointError, match=r"another seed \(0, now 1\); choose another folder"):
        Checkpoint(path, HEADER | {"seed": 1})


WHOLE = json.dumps(HEADER) + "\n"


@pytest.mark.parametrize(
    "content",
    [
        "dear diary\n",
        "my notes without newline",
        *(f"{value}\n" for value in ("3", "null", "[]", '"x"', "{}", "[" * 100_000)),
    ],
)
def test_another_kind_of_file_is_left_unchanged(tmp_path, content):
    path = tmp_path / "checkpoint.jsonl"
    path.write_text(content)
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        Checkpoint(path, HEADER)
    assert path.read_text() == content


@pytest.mark.parametrize(
    "line",
    ["", "5", "dear diary", '{"tusk": 1}', '{"task": [0], "result": {"square": 0}}', "[" * 100_000]
    + ['{"task": [0], "result": {"square": "many"}, "warnings": {}, "checksum": 1}'],
)
def test_a_damaged_result_is_refused_and_the_others_are_kept(tmp_path, line):
    path = tmp_path / "checkpoint.jsonl"
    _drain(Checkpoint(path, HEADER))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:4], line, *lines[5:]]) + "\n")
    with pytest.raises(CheckpointError, match=r"line 5 of .* is damaged or was changed; delete that line"):
        Checkpoint(path, HEADER)
    path.write_text("\n".join([*lines[:4], *lines[5:]]) + "\n")
    assert Checkpoint(path, HEADER).missing(TASKS) == [(3,)]


def test_a_changed_number_is_noticed(tmp_path):
    path = tmp_path / "checkpoint.jsonl"
    _drain(Checkpoint(path, HEADER))
    path.write_text(path.read_text().replace('"square": 81', '"square": 82'))
    with pytest.raises(CheckpointError, match="line 11"):
        Checkpoint(path, HEADER)


def test_warnings_are_collected_and_kept(tmp_path, recwarn):
    def warn(i):
        warnings.warn(f"in task {i}", UserWarning, stacklevel=1)
        return {"square": i * i}

    checkpoint = Checkpoint(tmp_path / "checkpoint.jsonl", HEADER)
    list(checkpoint.run(TASKS, warn))
    again = Checkpoint(tmp_path / "checkpoint.jsonl", HEADER)
    for each in (checkpoint, again):
        assert (dict(each.warned), each.warnings) == ({"UserWarning": 12}, {"UserWarning": "in task 0"})
    assert not recwarn


@pytest.mark.parametrize("kept", range(0, len(WHOLE), 7))
def test_an_incomplete_header_is_written_again(tmp_path, kept):
    path = tmp_path / "checkpoint.jsonl"
    path.write_text(WHOLE[:kept])
    Checkpoint(path, HEADER)
    assert path.read_text() == WHOLE


def test_a_killed_run_resumes(tmp_path):
    path = tmp_path / "checkpoint.jsonl"
    code = (
        "import time\n"
        "from pathlib import Path\n"
        "from transvariation.studies.checkpoint import Checkpoint\n"
        f"checkpoint = Checkpoint(Path({str(path)!r}), {HEADER!r})\n"
        f"for _ in checkpoint.run({TASKS!r}, lambda i: (time.sleep(0.1), {{'square': i * i}})[1]): pass\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not path.exists() or path.read_bytes().count(b"\n") < 4):
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    survived = path.read_bytes().count(b"\n") - 1
    assert 3 <= survived < len(TASKS)
    checkpoint = Checkpoint(path, HEADER)
    assert len(checkpoint.missing(TASKS)) == len(TASKS) - survived
    _drain(checkpoint)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(line["task"][0] for line in lines[1:]) == list(range(12))


def _threads():
    return max((pool["num_threads"] for pool in threadpool_info()), default=1)


def test_a_task_has_one_thread_as_in_a_worker(tmp_path):
    checkpoint = Checkpoint(tmp_path / "results.jsonl", {"study": "threads"})
    with threadpool_limits(2):
        assert _threads() == 2
        list(checkpoint.run([()], _threads))
    assert checkpoint.results[()] == 1
