"""Runs with sampled proximity that are killed and taken up again, on networks of a size at which that matters."""

import os
import shutil
import signal
import time

from harness import Failure

#: Few walks and columns: what counts is the size of the network.
LINE = "embed large --proximity sampled --walks 5 --dim 16 --stages 4 --threads 2 --keep-checkpoint"
STAGES = 4
SHORT_NODES, LONG_NODES = 20_000, 100_000


def killed_large(faults):
    """SIGKILL at random moments and right after each stage; the run is then resumed, killed once more, and resumed."""
    nodes = LONG_NODES if faults.long else SHORT_NODES
    faults.run(f"generate --nodes {nodes} --views 3 --degree 20 --seed 3 -q -o large")
    began = time.monotonic()
    faults.run(f"{LINE} -o large-whole")
    seconds, expected = time.monotonic() - began, faults.bytes_of("large-whole")
    moments = [(f"after {share:.0%} of {seconds:.1f} s", after(share * seconds))
               for share in sorted(faults.random.uniform(0.02, 0.98) for _ in range(6 if faults.long else 2))]  # fmt: skip
    stages = range(1, STAGES + 1) if faults.long else [1, STAGES - 1]
    moments += [(f"with {stage} of {STAGES} stages", when_kept(stage)) for stage in stages]
    for words, moment in moments:
        with faults.case("SIGKILL of a large run", f"{nodes} nodes, {words}"):
            kill(faults, f"{LINE} -o large-killed", moment)
            # Once more, while finished stages are applied.
            kill(faults, f"{LINE} -o large-killed --resume", after(0.3 * seconds))
            code, err = faults.end(faults.start(f"{LINE} -o large-killed --resume"))
            if code == 2 and "already exists" in err:
                # It had ended before it was killed.
                code = 0
            if code:
                raise Failure(f"cannot be finished: exit code {code}: {err}")
            if faults.bytes_of("large-killed") != expected:
                raise Failure("the finished result differs from an undisturbed one")
        faults.clear("large-killed")
    same_on_any_threads(faults, nodes, expected)
    for name in ("large", "large-whole"):
        shutil.rmtree(faults.folder / name)


def same_on_any_threads(faults, nodes, expected):
    for threads in (1, 3, 8):
        with faults.case("a large run on other threads", f"{nodes} nodes, {threads} threads"):
            faults.run(f"{LINE} --threads {threads} -o large-other".replace("--threads 2 ", ""))
            if faults.bytes_of("large-other") != expected:
                raise Failure(f"{threads} threads give other bytes than two")
        faults.clear("large-other")


def kill(faults, line, moment):
    """Starts a run and kills it at a moment, unless it ends before."""
    process = faults.start(line)
    try:
        moment(faults.folder / "large-killed", process)
    finally:
        process.send_signal(signal.SIGKILL)
        faults.end(process)


def after(seconds):
    return lambda folder, process: time.sleep(seconds)


def when_kept(stage):
    """Waits until a stage is kept."""

    def wait(folder, process):
        while process.poll() is None and not (folder / "checkpoint" / f"{stage:04}.stage").exists():
            time.sleep(0.002)

    return wait


def max_memory(faults):
    """Whatever --max-memory allows: a sentence, or a run that stays within it."""
    nodes, limits = (300_000, [300, 600, 1000, 2000, 4000]) if faults.long else (SHORT_NODES, [60, 100, 160, 250, 400])
    faults.run(f"generate --nodes {nodes} --views 3 --degree 20 --seed 4 -q -o large")
    for limit in limits:
        with faults.case("--max-memory", f"{nodes} nodes, {limit} MB"):
            errors = faults.folder / "large-errors.txt"
            with open(errors, "wb") as err:
                process = faults.start(f"embed large -o large-within --dim 64 --proximity sampled --max-memory {limit}M", stderr=err)
                _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            told, peak = errors.read_text(), usage.ru_maxrss * 1024 / 1e6
            faults.check_words(process.returncode, told)
            if peak > limit:
                raise Failure(f"exit code {process.returncode} with a peak of {peak:.0f} MB: {told}")
            if process.returncode and "memory" not in told:
                raise Failure(f"exit code {process.returncode} does not name the reason: {told}")
        faults.clear("large-within")
    shutil.rmtree(faults.folder / "large")
