"""Tasks are done once each, whatever cuts the run off."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from transvariation.studies.checkpoint import Journal, JournalError

HEADER = {"study": "squares", "seed": 0}
TASKS = [(i,) for i in range(12)]


def _square(i):
    return {"square": i * i}


def _drain(journal, jobs=1):
    return [task for task in journal.run(TASKS, _square, jobs)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_task_is_done_once(tmp_path, jobs):
    journal = Journal(tmp_path / "journal.jsonl", HEADER)
    assert sorted(_drain(journal, jobs)) == TASKS
    assert journal.results[(3,)] == {"square": 9}
    assert _drain(Journal(tmp_path / "journal.jsonl", HEADER)) == []


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_cut_off_in_the_middle_is_done_again(tmp_path, cut):
    path = tmp_path / "journal.jsonl"
    _drain(Journal(path, HEADER))
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    journal = Journal(path, HEADER)
    assert journal.missing(TASKS) == [(11,)]
    _drain(journal)
    assert path.read_bytes() == whole


def test_results_of_another_study_are_not_mixed_in(tmp_path):
    path = tmp_path / "journal.jsonl"
    Journal(path, HEADER)
    with pytest.raises(JournalError, match=r"another seed \(0, now 1\); choose another folder"):
        Journal(path, HEADER | {"seed": 1})


WHOLE = json.dumps(HEADER) + "\n"


@pytest.mark.parametrize(
    "content",
    [
        "dear diary\n",
        "my notes without newline",
        *(f"{value}\n" for value in ("3", "null", "[]", '"x"', "{}", "[" * 100_000)),
        *(f"{WHOLE}{line}\n" for line in ("5", '{"tusk": 1}', '{"task": [1]}', '{"task": [[1]], "result": {}}', "")),
        WHOLE + '{"task": [0], "result": {}}\ndear diary\nand more',
    ],
)
def test_a_stranger_s_file_is_left_alone(tmp_path, content):
    path = tmp_path / "journal.jsonl"
    path.write_text(content)
    with pytest.raises(JournalError, match="not a journal"):
        Journal(path, HEADER)
    assert path.read_text() == content


@pytest.mark.parametrize("kept", range(0, len(WHOLE), 7))
def test_killed_while_it_began_it_begins_again(tmp_path, kept):
    path = tmp_path / "journal.jsonl"
    path.write_text(WHOLE[:kept])
    Journal(path, HEADER)
    assert path.read_text() == WHOLE


def test_killed_and_started_again_it_goes_on(tmp_path):
    path = tmp_path / "journal.jsonl"
    code = (
        "import time\n"
        "from pathlib import Path\n"
        "from transvariation.studies.checkpoint import Journal\n"
        f"journal = Journal(Path({str(path)!r}), {HEADER!r})\n"
        f"for _ in journal.run({TASKS!r}, lambda i: (time.sleep(0.1), {{'square': i * i}})[1]): pass\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not path.exists() or path.read_bytes().count(b"\n") < 4):
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    survived = path.read_bytes().count(b"\n") - 1
    assert 3 <= survived < len(TASKS)
    journal = Journal(path, HEADER)
    assert len(journal.missing(TASKS)) == len(TASKS) - survived
    _drain(journal)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(line["task"][0] for line in lines[1:]) == list(range(12))


def test_a_dask_scheduler_does_the_same(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, protocol="inproc"
    ) as cluster:
        journal = Journal(tmp_path / "journal.jsonl", HEADER)
        assert sorted(_drain(journal, cluster.scheduler_address)) == TASKS
    assert journal.results[(5,)] == {"square": 25}
