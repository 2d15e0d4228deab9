"""Plants: days of a water treatment plant, and one simulated in the manner of the Tennessee Eastman process."""

from importlib.resources import as_file, files

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

FAULTS = {
    0: "none",
    1: "step in the composition of the feed",
    2: "step in the temperature of the cooling water",
    3: "random variation of the feed temperature",
    4: "slow drift of the reaction kinetics",
    5: "fouling of the cooling jacket",
    6: "sticking valve of the cooling water",
    7: "bias of the reactor thermometer",
    8: "loss of feed",
}
_STEPS_PER_SAMPLE = 3  # of the integration per sample, one minute each
_NOISE = {  # standard deviation of each sensor
    "feed flow": 0.05,
    "feed temperature": 0.3,
    "feed concentration": 0.004,
    "reactor level": 0.2,
    "reactor temperature": 0.1,
    "reactor concentration": 0.004,
    "jacket temperature": 0.15,
    "cooling valve": 0.3,
    "cooling water flow": 0.02,
    "cooling water temperature": 0.2,
    "outlet flow": 0.05,
    "separator pressure": 0.5,
    "separator level": 0.3,
    "product purity": 0.1,
}


def load_water_treatment() -> Bunch:
    """Load 527 days of an urban waste water treatment plant, measured by 38 sensors; 14 days are faulty.

    Returns
    -------
    Bunch
        ``normal``: the 513 normal days, ``faulty``: the 14 days on which the plant failed, both in the order of the
        calendar, with NaN where a sensor has no value; ``states``: what went wrong on each faulty day; ``DESCR``:
        origin and license. The dates are the index of every table.

    See Also
    --------
    transvariation.datasets.make_plant : A simulated plant.

    Examples
    --------
    >>> from transvariation.datasets import load_water_treatment
    >>> water = load_water_treatment()
    >>> water.normal.shape, water.faulty.shape, water.states.iloc[0]
    ((513, 38), (14, 38), 'settler-1')
    """
    data = files("transvariation.datasets") / "data"
    with as_file(data / "water_treatment.csv.gz") as path:
        table = pd.read_csv(path)
    days = pd.to_datetime(table.pop("DAY"), format="%d/%m/%y").dt.strftime("%Y-%m-%d")
    table = table.set_index(days.rename("day")).sort_index()
    states = table.pop("state")
    normal = states == "normal"
    return Bunch(
        normal=table[normal],
        faulty=table[~normal],
        states=states[~normal],
        DESCR=(data / "water_treatment.md").read_text(encoding="utf-8"),
    )


def make_plant(
    n_samples: int = 500, fault: int = 0, *, onset: int = 160, random_state: int | np.random.Generator | None = None
) -> pd.DataFrame:
    """Simulate a cooled stirred-tank reactor and a separator under control, sampled every three minutes.

    The reaction is exothermic; proportional-integral controllers hold temperature and levels, so that a fault shows in
    the relations between variables and in what the controllers do rather than in the controlled variables. Feed and
    cooling water vary slowly: successive samples are correlated, as those of a real plant are.

    This is an analog of the Tennessee Eastman process with 14 variables and 8 faults, not that process.

    Parameters
    ----------
    n_samples : int, default=500
        Number of samples.
    fault : int, default=0
        0 for none; 1 step in the composition of the feed; 2 step in the temperature of the cooling water; 3 random
        variation of the feed temperature; 4 slow drift of the reaction kinetics; 5 fouling of the cooling jacket; 6
        sticking valve of the cooling water; 7 bias of the reactor thermometer; 8 loss of feed.
    onset : int, default=160
        The sample at which the fault starts.
    random_state : int, Generator or None, default=None
        A number gives the same samples each time.

    Returns
    -------
    DataFrame of shape (n_samples, 14)

    See Also
    --------
    transvariation.monitoring.monitor : Watch such a plant.
    transvariation.datasets.load_water_treatment : Days of a real plant.

    References
    ----------
    Downs, J. J. and Vogel, E. F. (1993). A plant-wide industrial process control problem. Computers and Chemical
    Engineering 17, 245-255.

    Examples
    --------
    >>> from transvariation.datasets import make_plant
    >>> normal = make_plant(200, random_state=0)
    >>> normal.shape
    (200, 14)
    >>> faulty = make_plant(200, fault=8, onset=100, random_state=1)
    >>> bool(faulty["feed flow"][110:].mean() < 0.95 * normal["feed flow"].mean())
    True
    """
    if fault not in FAULTS:
        raise ValueError(f"fault={fault!r} is unknown; choose one of {', '.join(map(str, FAULTS))}")
    rng = np.random.default_rng(random_state)
    warm_up = 200
    rows = _simulate(n_samples + warm_up, fault, onset + warm_up, rng)[warm_up:]
    noise = rng.normal(size=rows.shape) * list(_NOISE.values())
    return pd.DataFrame(rows + noise, columns=list(_NOISE))


def _simulate(n: int, fault: int, onset: int, rng: np.random.Generator) -> np.ndarray:
    """Integrate the plant; return its variables without the noise of the sensors."""
    drift = np.array([0.97, 0.95, 0.98, 0.95])  # memory of feed flow, composition, cooling water, feed temperature
    size = np.array([0.12, 0.012, 0.6, 1.0]) * np.sqrt(1 - drift**2)
    disturbance = np.zeros(4)
    c, T, Tj, level, pressure, tank, purity = 0.5, 340.0, 330.0, 50.0, 100.0, 50.0, 95.0
    integral, valve, moved = 0.0, 20.0, 20.0
    rows = np.empty((n, len(_NOISE)))
    for i in range(n):
        active = i >= onset
        since = i - onset
        disturbance = drift * disturbance + size * rng.normal(size=4)
        flow, feed_c, water_T, feed_T = np.array([10.0, 1.0, 300.0, 330.0]) + disturbance
        rate, exchange, bias = 0.1, 0.6, 0.0
        if active:
            feed_c -= 0.03 * (fault == 1)
            water_T += 2.5 * (fault == 2)
            feed_T += (fault == 3) * rng.normal(0, 4.0)
            rate *= 1 - (fault == 4) * min(0.0006 * since, 0.25)
            exchange *= 1 - (fault == 5) * min(0.0015 * since, 0.4)
            bias = -1.0 * (fault == 7)
            flow *= 1 - 0.08 * (fault == 8)
        error = T + bias - 340.0
        integral += error
        valve = float(np.clip(20 + 3 * error + 0.3 * integral, 0, 100))
        if not (active and fault == 6 and abs(valve - moved) < 4):  # it moves only when pushed by 4% or more
            moved = valve
        water = moved / 10
        outlet = 10 + 0.3 * (level - 50)
        product = 10 + 0.2 * (tank - 50)
        for _ in range(_STEPS_PER_SAMPLE):
            reaction = rate * np.exp(4000 * (1 / 340 - 1 / T)) * c
            volume = 2 * level
            c, T, Tj = (
                c + flow / volume * (feed_c - c) - reaction,
                T + flow / volume * (feed_T - T) + 40 * reaction - 0.1 * (T - Tj),
                Tj + 0.1 * (water * (water_T - Tj) + 10 * exchange * (T - Tj)) / 3,
            )
            level += 0.2 * (flow - outlet)
            tank += 0.1 * (outlet - product)
            pressure += 0.1 * (100 + 2 * (outlet - 10) + 1.5 * (T - 340) - pressure)
            purity += 0.1 * (95 + 40 * (0.5 - c) - purity)
        rows[i] = (
            *(flow, feed_T, feed_c, level, T + bias, c, Tj),
            *(valve, water, water_T, outlet, pressure, tank, purity),
        )
    return rows
