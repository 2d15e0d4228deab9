"""Spectra measured at other positions than wanted: interpolated to the coarser ones within the range, else refused."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import savgol_filter

from transvariation._typing import Bools, Fields, Floats
from transvariation.tables.cells import Column, explain, read_cells
from transvariation.tables.grid import Block, Grid
from transvariation.tables.headers import MIN_POSITIONS, split_unit, unit_key
from transvariation.tables.problems import some_of

COARSEST_STEP = 5.0  # times the wanted step: a wider gap between positions is a band that was not measured
COARSER_STEP = 1.1  # times the wanted step: between such positions a spectrum is not known as well as the wanted ones
_SMOOTHING = 9, 6  # window and degree: keeps peaks that are four steps wide at half their height
_POSITION = re.compile(r"(\D*?)([-+]?[0-9]{1,12}(?:[.,][0-9]{1,12})?) ?(nm|µm|um|cm-1|cm\^-1|cm⁻¹|ppm)?", re.IGNORECASE)


def positions(features: Sequence[str]) -> dict[str, float]:
    """Return the wavelengths, wavenumbers or shifts in the names of variables, for those whose names are numbers.

    Names of many variables may have letters before the number, the same in all of them.

    Examples
    --------
    >>> positions(["1002.5", "800 nm", "Na", "K39"])
    {'1002.5': 1002.5, '800 nm': 800.0}
    >>> len(positions(["moisture", *(f"X{x}" for x in range(800, 830))]))
    30
    """
    found = {name: match for name in features if (match := _POSITION.fullmatch(split_unit(name)[0].strip()))}
    prefix, times = max(
        Counter(match[1] for match in found.values()).items(), key=lambda item: item[1], default=("", 0)
    )
    prefix = prefix if times >= MIN_POSITIONS else ""
    return {name: float(match[2].replace(",", ".")) for name, match in found.items() if match[1] == prefix}


def unit_of_positions(features: Sequence[str], units: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the unit that most positions state, in their names or apart; "" if none does.

    Examples
    --------
    >>> unit_of_positions(["800 cm⁻¹", "804 cm⁻¹", "moisture (%)"]), unit_of_positions(["800", "804"])
    ('cm-1', '')
    """
    found: Counter[str] = Counter()
    for name in positions(features):
        plain, own = split_unit(name)
        match = _POSITION.fullmatch(plain.strip())
        found[unit_key(own or units.get(name, "") or (match and match[3]) or "")] += 1
    del found[""]
    return max(found, key=found.__getitem__, default="")


class Resampling(NamedTuple):
    """Interpolation of the spectra in a table."""

    at: list[int]  # the columns of positions, in rising order
    own: Floats  # their positions
    wanted: Floats  # those wanted
    kept: list[int]  # the other columns
    header: list[str]  # the names of the columns kept, then those of the positions wanted

    def apply(self, grid: Grid, block: Block) -> Block:
        """Interpolate a block; cells that are no numbers are reported."""
        X = np.empty((len(block.rows), len(self.at)))
        for k, j in enumerate(self.at):
            X[:, k], _, faults = read_cells(block.columns[j], grid.decimal)
            for i, cell in faults.items():
                code, params = explain(cell, grid.decimal)
                grid.problems.add(code, int(block.rows[i]), grid.header[j], **params)
        spectra = _interpolate(_spline, X, self.own, self.wanted)
        columns: list[Column] = [block.columns[j] for j in self.kept]
        return Block(block.rows, [*columns, *spectra.T], block.progress)


def find_resampling(
    grid: Grid, wanted: Sequence[str], units: Mapping[str, str] = MappingProxyType({}), *, all_needed: bool
) -> tuple[Resampling | None, list[str]]:
    """Decide whether the spectra of a table are to be interpolated to the positions of variables.

    None if the table has these positions, or if it or the wanted variables are no spectra; unless all are needed, also
    if most positions are there, which are compared, and if its positions are farther apart: spectra interpolated
    between them differ from all that were measured there, so that the others are compared at these. The variables that
    can be compared are returned as well. Positions in another unit than the wanted ones, by `units` or by their names,
    are refused.
    """
    names = {x: name for name, x in positions(wanted).items()}
    at = {name: j for j, name in enumerate(grid.header)}
    own = {x: at[name] for name, x in positions(grid.header).items()}
    if len(names) < MIN_POSITIONS or len(own) < 2:
        return None, list(wanted)
    unit, other = unit_of_positions(grid.header), unit_of_positions(wanted, units)
    if unit and other and unit != other:
        raise grid.problems.stop("other-axis", unit=unit, other=other)
    for x in own.keys() & names.keys():  # 1100, 1100.0, 1100 nm and X1100 are one position
        grid.header[own[x]] = names[x]
    if own.keys() >= names.keys():
        return None, list(wanted)
    here, there = np.array(sorted(own)), np.array(sorted(names))
    inside = there[(there >= here[0]) & (there <= here[-1])]
    params = {"low": here[0], "high": here[-1], "first": there[0], "last": there[-1], "n": len(here), "m": len(inside)}
    step = np.median(np.diff(there))
    around = here[(here >= inside[:1].sum() - step) & (here <= inside[-1:].sum() + step)]
    gaps = np.diff(around)
    is_covered = len(inside) == len(there) if all_needed else 2 * len(inside) >= len(there)
    if is_covered and len(gaps) and gaps.max() <= COARSEST_STEP * step and not own.keys() >= set(inside):
        lacking = {names[x] for x in set(there) - set(inside)}
        if np.median(gaps) > COARSER_STEP * step:
            if all_needed:
                raise grid.problems.stop("coarse-axis", step=float(np.median(gaps)), other=float(step))
            grid.problems.note("coarser", **params)
            within = [grid.header[own[x]] for x in here[covered(there, here)]]
            return None, [*(name for name in wanted if name not in names.values()), *within]
        grid.problems.note("resampled", **params | {"first": inside[0], "last": inside[-1]})
        kept = [j for j in range(len(grid.header)) if j not in own.values()]
        header = [*(grid.header[j] for j in kept), *(names[x] for x in inside)]
        left = [name for name in wanted if name not in lacking]
        return Resampling([own[x] for x in here], here, inside, kept, header), left
    if not all_needed and 2 * len(own.keys() & names.keys()) >= min(len(own), len(names)):
        lacking = {name for x, name in names.items() if x not in own}
        return None, [name for name in wanted if name not in lacking]
    if not is_covered:
        raise grid.problems.stop("outside-axis", **params)
    widest = int(np.argmax(gaps)) if len(gaps) else 0
    low, high = (around[widest], around[widest + 1]) if len(gaps) else (there[0], there[-1])
    raise grid.problems.stop("gap-in-axis", low=low, high=high)


def covered(own: Floats, wanted: Floats) -> Bools:
    """Return which positions wanted are among or between those measured, but in no gap of these."""
    after = np.clip(np.searchsorted(own, wanted), 1, len(own) - 1)
    is_between = (wanted > own[after - 1]) & (wanted < own[after])
    return np.isin(wanted, own) | (is_between & (own[after] - own[after - 1] <= _widest(own)))


def _widest(own: Floats) -> float:
    """Return the longest step between positions that is no gap."""
    return float(COARSEST_STEP * np.median(np.diff(own)))


def interpolated(X: Floats, features: Sequence[str], wanted: Sequence[str]) -> Floats:
    """Interpolate spectra to positions that are farther apart; variables of the same name are taken as they are."""
    own, new, place = positions(features), positions(wanted), {name: j for j, name in enumerate(features)}
    known = sorted(own, key=own.__getitem__)
    x, goals = [own[name] for name in known], [None if name in place else new[name] for name in wanted]
    spectra = _interpolate(_moved, X[:, [place[name] for name in known]], np.array(x), np.array(goals, dtype=float))
    same = [j for j, name in enumerate(wanted) if name in place]
    spectra[:, same] = X[:, [place[wanted[j]] for j in same]]
    return spectra


def _interpolate(how: Callable[[Floats, Floats, Floats], Floats], X: Floats, own: Floats, wanted: Floats) -> Floats:
    """Interpolate spectra; NaN beside a missing value."""
    spectra = np.array([np.interp(wanted, own, row) for row in X]).reshape(len(X), len(wanted))
    for row, spectrum in zip(X, spectra, strict=True):
        known, found = np.isfinite(row), np.isfinite(spectrum)
        if found.any():
            spectrum[found] = how(own[known], row[known], wanted[found])
    return spectra


def _spline(x: Floats, y: Floats, wanted: Floats) -> Floats:
    """Interpolate by a cubic spline, which keeps peaks; straight lines flatten them."""
    return CubicSpline(x, y)(wanted)


def _moved(x: Floats, y: Floats, wanted: Floats) -> Floats:
    """Move the value measured nearest to each position along the smoothed spectrum.

    The noise stays that of one measurement. Known spectra with less noise, as a spline gives, would calibrate a limit
    that new ones, which are not interpolated, exceed too often.
    """
    found = np.full(len(wanted), np.nan)
    gaps = np.flatnonzero(np.diff(x) > _widest(x))
    for part in np.split(np.arange(len(x)), gaps + 1):
        here = (wanted >= x[part[0]]) & (wanted <= x[part[-1]])
        if here.any():
            at, values = x[part], y[part]
            smooth = CubicSpline(at, savgol_filter(values, *_SMOOTHING) if len(part) >= _SMOOTHING[0] else values)
            nearest = np.searchsorted((at[1:] + at[:-1]) / 2, wanted[here])
            found[here] = values[nearest] + smooth(wanted[here]) - smooth(at[nearest])
    return found


def missing_bands(wanted: Sequence[str], lacking: Collection[str]) -> Fields:
    """Describe as ranges the positions of a spectrum that a table lacks; empty if it lacks none."""
    names = {x: name for name, x in positions(wanted).items()}
    axis = sorted(names)
    missing = np.array([names[x] in lacking for x in axis], dtype=bool)
    if len(names) < MIN_POSITIONS or not missing.any():
        return {}
    edges = np.flatnonzero(np.diff(np.concatenate([[False], missing, [False]]).astype(int)))
    pairs = [(axis[first], axis[after - 1]) for first, after in edges.reshape(-1, 2)]
    words = [f"{low:g}" if low == high else f"{low:g} to {high:g}" for low, high in pairs]
    return {"n": int(missing.sum()), "m": len(names), "bands": some_of(words)}
