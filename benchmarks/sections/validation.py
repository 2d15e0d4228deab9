"""Validation on a database: do its intervals contain the truth, what does it cost, and what does it say of known data?

Simulated panes have three levels, and the true error rates of a database are measured on fresh panes.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chi2

from benchmarks.data import DATA
from benchmarks.measure import cost
from benchmarks.panes import make_panes
from benchmarks.table import Table
from transvariation._typing import Bools, Floats
from transvariation.casework import Database, ValidationResult, judge, validate
from transvariation.casework.background.rates import Rate, measure_rate
from transvariation.casework.validation.comparisons import Comparisons, Sources, parse_design
from transvariation.casework.validation.methods import Compared, judge_comparisons
from transvariation.conformal import is_accepted
from transvariation.datasets import load_nfi_glass
from transvariation.report.case_text import format_rate

VARIABLES = ["a", "b", "c", "d"]
DESIGN, SENSITIVITY = "2x2", 0.9
SCENARIOS = ("Gaussian", "heavy-tailed", "makers", "drift")
SEEDS = range(7000, 7250)  # of the databases of each kind of panes; nothing was decided with these
N_COMPARISONS = 2000  # of each kind, the default of the command
N_FRESH = 10_000  # panes of each kind, on which true rates are measured
WITHIN, REPLICATE, BETWEEN = 0.012, 0.008, 0.03  # standard deviations of log10 contents
Measured = dict[str, tuple[Rate, float]]  # the rates of a database, with their intervals and true values
FIU, XTC, ZADORA = DATA / "fiu_glass", DATA / "xtc_tablets" / "tablets.csv", DATA / "zadora_glass" / "glass.csv"


def run(short: bool) -> Iterator[Table]:
    """Measure the coverage of the intervals, the cost on FIU's glass, and known data."""
    yield Table(
        "validation_truth",
        "Share of databases whose 95% interval contains the true rate",
        truth(range(2), 40, 40) if short else truth(SEEDS, 60, N_COMPARISONS),
        f"Design {DESIGN}, sensitivity {SENSITIVITY}; the truth of each database on {N_FRESH:,} new panes",
    )
    yield Table("validation_speed", "Validating 761 panes, 2,000 comparisons of each kind", speed(short))
    if FIU.is_dir():
        yield Table("validation_groups", "Groups of the recovered items of FIU's case", grouping())
    else:
        warnings.warn(f"no {FIU} (see benchmarks/data.py): groups are not compared", stacklevel=2)
    how: dict[str, Any] = {"n_comparisons": 40, "n_folds": 2} if short else {}
    for name, (data, designs, linear) in known_data(60 if short else None).items():
        result = validate(data, designs=designs[: 1 if short else None], linear=linear, stability=False, **how)
        yield Table(f"validation_{name.lower()}", f"The package validated by its own command: {name}", describe(result))


def simulate(scenario: str, n: int, rng: np.random.Generator, n_fragments: int = 4) -> Database:
    """Draw a database of panes with two replicates of each fragment.

    Scenarios: ``Gaussian``; ``heavy-tailed`` fragments and replicates (t with 3 degrees of freedom, a scale of its own
    for each pane); ``makers``: two, whose panes differ less; ``drift``: the instrument drifts by three standard
    deviations of a fragment over the database, and fragments of a pane are measured on different days.
    """
    p = len(VARIABLES)
    heavy = scenario == "heavy-tailed"

    def noise(scale: float, *shape: int) -> Floats:
        return scale * (rng.standard_t(3, size=(*shape, p)) / np.sqrt(3) if heavy else rng.normal(size=(*shape, p)))

    maker = rng.integers(2, size=n)
    center = rng.normal(0, BETWEEN, size=(n, p))
    if scenario == "makers":
        center = center / 2 + 3 * BETWEEN * maker[:, None]
    scale = np.exp(rng.normal(0, 0.4, size=(n, 1, 1))) if heavy else np.ones((n, 1, 1))
    fragments = center[:, None] + scale * noise(WITHIN, n, n_fragments)
    if scenario == "drift":
        day = rng.uniform(size=(n, n_fragments, 1))
        fragments = fragments + 3 * WITHIN * (day - 0.5)
    values = fragments[:, :, None] + scale[..., None] * noise(REPLICATE, n, n_fragments, 2)
    index = np.indices((n, n_fragments, 2)).reshape(3, -1)
    frame = pd.DataFrame(values.reshape(-1, p), columns=VARIABLES)
    frame.insert(0, "source", [f"P{i}" for i in index[0]])
    frame.insert(1, "fragment", index[1].astype(str))
    if scenario == "makers":
        frame.insert(2, "stratum", np.array(["A", "B"])[maker[index[0]]])
    return Database(frame, name=scenario, logged=True)


def compare_fresh(scenario: str, n: int) -> tuple[Bools, list[Compared]]:
    """Draw comparisons of n new panes of a population; return which have one source, and the fragments."""
    fresh = simulate(scenario, n, np.random.default_rng(0))
    known, questioned, drawn = Comparisons(_sources(fresh), n, 0).draw(parse_design(DESIGN), 0)
    return known == questioned, drawn


def _sources(database: Database) -> Sources:
    return Sources(database.frame[VARIABLES].to_numpy(), database, 1, False, True)


def one_database(database: Database, n_comparisons: int, same: Bools, drawn: list[Compared]) -> Measured:
    """Validate on a simulated database; return each rate with its interval, and the truth, on new panes."""
    how: dict[str, Any] = {"n_comparisons": n_comparisons, "stability": False, "rates_only": True}
    (design,) = validate(database, designs=[DESIGN], sensitivities=[SENSITIVITY], **how).designs
    rates = design.rates["transvariation"][0]
    sources, how = _sources(database).sources, {"ratios": False, "others": False}
    found = judge_comparisons(drawn, sources, 0, parse_design(DESIGN), **how)
    accepted = is_accepted(found["transvariation"], SENSITIVITY)
    return {
        "false exclusion": (rates.false_exclusion, float((~accepted[same]).mean())),
        "false inclusion": (rates.false_inclusion, float(accepted[~same].mean())),
    }


def many_databases(scenario: str, seeds: range, n_sources: int, n_comparisons: int) -> list[Measured]:
    """Validate on many databases of one population; their true rates are measured on the same new panes."""
    fresh = compare_fresh(scenario, N_FRESH)
    databases = (simulate(scenario, n_sources, np.random.default_rng([seed, n_sources])) for seed in seeds)
    return [one_database(database, n_comparisons, *fresh) for database in databases]


def truth(seeds: range, n_sources: int, n_comparisons: int) -> list[dict[str, Any]]:
    """Validate on many simulated databases of each population."""
    return coverage({each: many_databases(each, seeds, n_sources, n_comparisons) for each in SCENARIOS})


def coverage(found: dict[str, list[Measured]]) -> list[dict[str, Any]]:
    """Count how often the intervals of databases contain their true rates, by scenario and rate, and in all."""
    rows, everything = [], []
    for scenario, databases in found.items():
        contains = [[rate.low <= true <= rate.high for rate, true in each.values()] for each in databases]
        for kind, own in zip(databases[0], zip(*contains, strict=True), strict=True):
            rates, true = zip(*(each[kind] for each in databases), strict=True)
            means = {
                "measured, mean": float(np.mean([rate.share for rate in rates])),
                "true, mean": float(np.mean(true)),
            }
            rows.append(_coverage_row(scenario, kind, [[one] for one in own]) | means)
        rows.append(_coverage_row(scenario, "both", contains))
        everything += contains
    return [*rows, _coverage_row("all", "both", everything)]


def _coverage_row(scenario: str, kind: str, contains: list[list[bool]]) -> dict[str, Any]:
    """Count intervals; those of one database are not independent."""
    database = np.repeat(np.arange(len(contains)), len(contains[0]))
    rate = measure_rate(np.ravel(contains), database)
    described = {"panes": scenario, "rate": kind, "intervals": rate.n}
    return described | {"contain the true rate": format_rate(rate)}


def fiu(short: bool = False) -> Database:
    """FIU's vehicle glass: 761 items with nine measurements, which are taken for fragments."""
    table = pd.read_csv(FIU / "vehicle.csv", dtype={"item": str})
    few = table["item"].isin(table["item"].unique()[: 60 if short else None])
    return Database.build(table[few], name="FIU", source_column="item", logged=True)


def simulated(short: bool = False) -> Database:
    """Panes in the shape of FIU's, and with replicates: 761 with four fragments, three replicates, ten elements."""
    n, p = 60 if short else 761, 10
    panes, _ = make_panes(n, p, np.random.default_rng(0), 4, 3)
    index = np.indices((n, 4, 3)).reshape(3, -1)
    frame = pd.DataFrame(np.array(panes).reshape(-1, p), columns=[f"e{i}" for i in range(p)])
    frame.insert(0, "source", [f"P{i}" for i in index[0]])
    frame.insert(1, "fragment", index[1].astype(str))
    return Database(frame, name="simulated", logged=True)


def validate_panes(measured: bool, short: bool = False) -> ValidationResult:
    """Validate FIU's glass, or simulated panes, in one design at one sensitivity, with 2,000 comparisons."""
    database, design = (fiu(short), "3x1") if measured else (simulated(short), "3x3")
    return validate(database, designs=[design], n_comparisons=60 if short else 2000, n_folds=2 if short else 5)


def judge_pane(measured: bool, short: bool = False) -> Any:
    """Judge a case of three control fragments, with the same background."""
    if measured:
        case = pd.read_csv(FIU / "casework.csv")
        control, recovered = case[case["item"] == "Control"].iloc[:3], case[case["item"] == "Recovered A"]
        return judge(control, recovered, background=fiu(short), logged=True)
    database = simulated(short)
    own = database.frame[database.frame["source"] == "P0"]
    last = own["fragment"] == "3"
    return judge(own[~last], own[last], background=database.without(["P0"]), logged=True)


def speed(short: bool) -> list[dict[str, Any]]:
    """Measure what a validation costs, in cases."""
    rows = []
    for measured in (False, True) if FIU.is_dir() else (False,):
        one, whole = (
            cost(f"benchmarks.sections.validation:{name}", measured=measured, short=short)
            for name in ("judge_pane", "validate_panes")
        )
        ratio = whole[0] / one[0]
        target = {} if short else {"target": "at most 60", "met": ratio <= 60}
        rows.append(
            {
                "panes": "FIU's, 761 x 9 x 1, 15 elements" if measured else "simulated, 761 x 4 x 3, 10 elements",
                "design": "3x1" if measured else "3x3",
                "judge, CPU s": one[0],
                "validate, CPU s": whole[0],
                "ratio": ratio,
                "peak memory of judge, MB": one[2],
                "peak memory of validate, MB": whole[2],
                **target,
            }
        )
    return rows


def known_data(most: int | None = None) -> dict[str, tuple[Database, list[str], bool]]:
    """Databases of known data, the designs that they allow, and whether no logarithms are taken."""
    nfi = load_nfi_glass().frame
    found = {"NFI": (Database.build(nfi, name="NFI", fragment_column="piece", logged=True), ["2x1", "4x1"], False)}
    if ZADORA.is_file():
        zadora = Database.build(ZADORA, name="Zadora", source_column="item", fragment_column="fragment", logged=True)
        found["Zadora"] = zadora, ["1x3", "3x3"], False
    if FIU.is_dir():
        found["FIU"] = fiu(), ["3x1"], False
    if XTC.is_file():
        tablets = Database.build(XTC, name="XTC", source_column="batchnumber", fragment_column="measurement")
        found["XTC"] = tablets, ["1x1", "2x1"], True
    for name, (data, designs, linear) in found.items():
        found[name] = data.without(data.sources[most:]) if most else data, designs, linear
    return found


def describe(result: ValidationResult) -> list[dict[str, Any]]:
    """List what a validation measured, by design and method."""
    rows = []
    for design in result.designs:
        for method, several in design.rates.items():
            for rates in several:
                ratios = design.ratios.get(method)
                rows.append(
                    {
                        "design": design.design,
                        "sources": design.n_sources,
                        "method": method,
                        "sensitivity": "" if rates.sensitivity is None else f"{rates.sensitivity:g}",
                        "false exclusion": format_rate(rates.false_exclusion),
                        "false inclusion": format_rate(rates.false_inclusion),
                        "Cllr": "" if ratios is None else f"{ratios.cllr:.3f}",
                        "no ratio stated": "" if ratios is None else ratios.refused,
                    }
                )
    return rows


def grouping() -> list[dict[str, Any]]:
    """Group the recovered items of FIU's casework table, and compare with Scott and Knott's (1974) groups.

    That test is for one variable; items that it separates in any element, at 0.05 divided by the number of elements,
    are separate. Its multivariate form tests by Hotelling's T2, which needs more measurements of two groups than there
    are elements: here all recovered items have fewer.
    """
    case = pd.read_csv(FIU / "casework.csv")
    control, recovered = (case[(case["item"] == "Control") == known] for known in (True, False))
    result = judge(control, recovered, background=fiu(), logged=True)
    items = list(dict.fromkeys(recovered["item"]))
    owner = {item: i for i, group in enumerate(result.groups) for item in group.fragments}
    ours = [owner.get(item, -1 - i) for i, item in enumerate(items)]
    elements = list(recovered.columns[1:])
    grouped = recovered.groupby("item", sort=False)[elements]
    n = grouped.size().to_numpy()
    variances = (grouped.var() * (n - 1)[:, None]).sum() / (n - 1).sum() * np.mean(1 / n)
    labels = [
        scott_knott(grouped.mean()[each].to_numpy(), variances[each], int((n - 1).sum()), 0.05 / len(elements))
        for each in elements
    ]
    theirs = list(zip(*labels, strict=True))
    rates = result.grouping
    measured = {} if rates is None else {"one source, divided": rates.divided, "two sources, mixed": rates.mixed}
    return [
        {"grouping": "transvariation", "groups": "; ".join(_listed(items, ours))}
        | {name: format_rate(rate) for name, rate in measured.items()},
        {"grouping": "Scott-Knott, one element at a time", "groups": "; ".join(_listed(items, theirs))},
    ]


def _listed(items: list[str], labels: Any) -> list[str]:
    short = [item.removeprefix("Recovered ") for item in items]
    return [
        " ".join(name for name, own in zip(short, labels, strict=True) if own == label)
        for label in dict.fromkeys(labels)
    ]


def scott_knott(means: Floats, variance: float, freedom: int, level: float) -> list[int]:
    """Group means of equal precision by Scott and Knott's test; return the number of the group of each.

    Parameters
    ----------
    means : ndarray of shape (k,)
    variance : float
        Of a mean.
    freedom : int
        Degrees of freedom of the variance.
    level : float
        Of each test.
    """
    order = np.argsort(means)

    def divided(at: Any) -> list[Any]:
        k = len(at)
        if k < 2:
            return [at]
        own = means[at]
        sums = np.cumsum(own)[:-1]
        first = np.arange(1, k)
        between = sums**2 / first + (own.sum() - sums) ** 2 / (k - first) - own.sum() ** 2 / k
        spread = (((own - own.mean()) ** 2).sum() + freedom * variance) / (k + freedom)
        cut = int(np.argmax(between)) + 1
        statistic = np.pi / (2 * (np.pi - 2)) * between[cut - 1] / spread
        if statistic <= chi2.isf(level, k / (np.pi - 2)):
            return [at]
        return [*divided(at[:cut]), *divided(at[cut:])]

    labels = np.empty(len(means), dtype=int)
    for number, group in enumerate(divided(order)):
        labels[group] = number
    return [int(label) for label in labels]
