"""The paper's competitors: CPU time to fit and to score, against peers where there are any, and growth with n."""

from collections.abc import Iterator

import numpy as np
from sklearn.neighbors import KernelDensity
from sklearn.svm import OneClassSVM

from benchmarks.measure import cpu_seconds, ratio
from benchmarks.table import Table
from transvariation import TOCC
from transvariation.baselines import KDEOCC, SOMOCC, SVDD, GaussianOCC, KMeansOCC, MixtureOCC

CLASSIFIERS = {
    "TOCC": TOCC(),
    "GaussianOCC": GaussianOCC(),
    "MixtureOCC": MixtureOCC(),
    "KDEOCC": KDEOCC(),
    "KMeansOCC": KMeansOCC(random_state=0),
    "SOMOCC": SOMOCC(random_state=0),
    "SVDD": SVDD(),
    "SVDD, linear": SVDD(kernel="linear"),
}


def sample(n: int, p: int = 2) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, p))


def growth(short: bool) -> Table:
    new, rows = sample(1000), []
    for name, classifier in CLASSIFIERS.items():
        for n in (100, 200) if short else (100, 500, 2500):
            fit = cpu_seconds(lambda classifier=classifier, n=n: classifier.fit(sample(n)), 2)
            score = cpu_seconds(lambda classifier=classifier: classifier.score_samples(new))
            rows.append({"classifier": name, "n": n, "fit s": fit, "score 1000 s": score})
    return Table("baselines_growth", "Two variables: fit n objects, score 1000 new ones", rows)


def targets(short: bool) -> Table:
    kernels, points = sample(500), sample(1000 if short else 100_000)
    classifier = KDEOCC().fit(kernels)
    peer = KernelDensity(bandwidth=np.sqrt(classifier.bandwidth_[0, 0])).fit(kernels)
    jobs = [("KDEOCC: density of 500 objects at 100 000 points", "KernelDensity", 1.0)]
    times = [ratio(lambda: classifier.score_samples(points), lambda: peer.score_samples(points))]
    X = sample(500 if short else 5000)
    svm = OneClassSVM(gamma=0.5, nu=1 / (len(X) * 0.1))
    for kernel in ("rbf", "linear"):
        jobs.append((f"SVDD, {kernel}: fit 5000 objects", "OneClassSVM", 2.0))
        times.append(ratio(lambda kernel=kernel: SVDD(kernel=kernel).fit(X), lambda: svm.fit(X)))
    small = sample(87)
    for seed in range(2 if short else 20):  # enough calls to compile the kernel
        SOMOCC(random_state=seed).fit(small)
    jobs.append(("SOMOCC: fit 87 objects, among many maps", "", 0.01))
    times.append((cpu_seconds(lambda: SOMOCC(random_state=0).fit(small), 5), None))
    rows = [
        {"job": job, "s": own, "peer": peer, "peer s": other, "target s": target, "met": own <= target}
        for (job, peer, target), (own, other) in zip(jobs, times, strict=True)
    ]
    return Table("baselines_targets", "CPU time against targets", rows)


def run(short: bool) -> Iterator[Table]:
    yield targets(short)
    yield growth(short)
