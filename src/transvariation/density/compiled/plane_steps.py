"""Covariances from scatter in two variables, by model: closed forms, no matrices; see `models`.

A symmetric matrix (a, o; o, d) has the middle (a + d) / 2 and, seen from axes turned by an angle t, the difference from
it h cos 2t + o sin 2t along them and o cos 2t - h sin 2t beside them, where h = (a - d) / 2: whatever turns, turns by
the double angle, whose cosine and sine are ratios.

All that is known of the components stands in one array, a column for each: every array that is handed over costs as
much as a step of the arithmetic.
"""

from math import sqrt

from transvariation.density.compiled import compiled, compiled_sums
from transvariation.density.compiled.m_steps import AXES, CODES, COMMON_SHAPE, COMMON_VOLUME, VVE_ML
from transvariation.density.covariance_models import AXES_ROUNDS, AXES_TOL, INNER_ROUNDS, INNER_TOL

# The rows: one number, two along the axes (or a double angle's cosine and sine), or a, d and o of a matrix.
SIZE, GAIN, SCALE = 0, 1, 2
MEAN, _ALONG, _VARIANCE, _TURN = 3, 5, 7, 9
SCATTER, COVARIANCE, WHITENER = 11, 14, 17
N_ROWS = 20

_EII, _VII, _EEE, _VEE, _EVV, _VVV = (CODES[m] for m in ("EII", "VII", "EEE", "VEE", "EVV", "VVV"))


@compiled_sums
def row_sum(c, row):
    """Sum a row."""
    total = 0.0
    for k in range(c.shape[1]):
        total += c[row, k]
    return total


@compiled()
def _set_covariance(c, k, a, d, o):
    c[COVARIANCE, k], c[COVARIANCE + 1, k], c[COVARIANCE + 2, k] = a, d, o


@compiled()
def _volumes_and_shape(c, w, v):
    """Variances of components that share a shape but not a volume, from their scatter along the axes."""
    first, second = 1.0, 1.0
    for _ in range(INNER_ROUNDS):
        first, second = 0.0, 0.0
        for k in range(c.shape[1]):
            per = 1 / c[SCALE, k]
            first += c[w, k] * per
            second += c[w + 1, k] * per
        size = sqrt(first * second)
        first, second = size / first, size / second
        moved = False
        for k in range(c.shape[1]):
            new = (c[w, k] * first + c[w + 1, k] * second) / (2 * c[SIZE, k])
            moved |= abs(new - c[SCALE, k]) > INNER_TOL * new
            c[SCALE, k] = new
        if not moved:
            break
    for k in range(c.shape[1]):
        c[v, k] = c[SCALE, k] / first
        c[v + 1, k] = c[SCALE, k] / second


@compiled()
def _variances(c, w, v, common_volume, common_shape):
    """Turn scatter along the axes, in row w and the next, into variances along them by what the components share."""
    if common_volume and common_shape:
        n = row_sum(c, SIZE)
        first, second = row_sum(c, w) / n, row_sum(c, w + 1) / n
        for k in range(c.shape[1]):
            c[v, k], c[v + 1, k] = first, second
    elif common_volume:
        total = 0.0
        for k in range(c.shape[1]):
            size = sqrt(c[w, k] * c[w + 1, k])
            c[v, k] = size
            total += size
        total /= row_sum(c, SIZE)
        for k in range(c.shape[1]):
            per = total / c[v, k]
            c[v, k] = c[w, k] * per
            c[v + 1, k] = c[w + 1, k] * per
    elif common_shape:
        _volumes_and_shape(c, w, v)
    else:
        for k in range(c.shape[1]):
            per = 1 / c[SIZE, k]
            c[v, k] = c[w, k] * per
            c[v + 1, k] = c[w + 1, k] * per


@compiled()
def _single(cosine, sine):
    """Cosine and sine of the angle, from those of its double; small ones to their own last digit."""
    if cosine >= 0:
        x = sqrt((1 + cosine) / 2)
        return x, sine / (2 * x)
    y = sqrt((1 - cosine) / 2)
    return sine / (2 * y), y


@compiled()
def _seen(c, k, cosine, sine):
    """See a component's scatter from axes turned by a double angle: along them, and beside."""
    a, d, o = c[SCATTER, k], c[SCATTER + 1, k], c[SCATTER + 2, k]
    # Middle plus and minus half would lose a small variance to the rounding of a large one: a line would have width.
    x, y = _single(cosine, sine)
    xx, yy, xyo = x * x, y * y, 2 * x * y * o
    return xx * a + xyo + yy * d, yy * a - xyo + xx * d, o * cosine - (a - d) / 2 * sine


@compiled()
def _common_axes(c, fresh, by_likelihood):
    """Turn the common axes, from where they are, to those of the criterion, and see the scatter along them."""
    cosine, sine = c[_TURN, 0], c[_TURN + 1, 0]
    if fresh:
        half, o = (row_sum(c, SCATTER) - row_sum(c, SCATTER + 1)) / 2, row_sum(c, SCATTER + 2)
        radius = sqrt(half * half + o * o)
        cosine, sine = (half / radius, o / radius) if radius > 0 else (1.0, 0.0)
    for _ in range(AXES_ROUNDS):
        across, beside = 0.0, 0.0
        for k in range(c.shape[1]):
            x, y, xy = _seen(c, k, cosine, sine)
            weight = (c[SIZE, k] / (x * y) if by_likelihood else 1 / sqrt(x * y)) * (y - x)
            across += weight * (y - x)
            beside += weight * xy
        radius = sqrt(across * across + 4 * beside * beside)
        turn_c, turn_s = (across / radius, -2 * beside / radius) if radius > 0 else (1.0, 0.0)
        cosine, sine = cosine * turn_c - sine * turn_s, sine * turn_c + cosine * turn_s
        length = sqrt(cosine * cosine + sine * sine)  # of many turns the rounding would add up
        cosine, sine = cosine / length, sine / length
        if not abs(turn_s) >= AXES_TOL:
            break
    for k in range(c.shape[1]):
        c[_TURN, k], c[_TURN + 1, k] = cosine, sine
        c[_ALONG, k], c[_ALONG + 1, k], _ = _seen(c, k, cosine, sine)


@compiled()
def _own_axes(c):
    """See each component's scatter along its own axes, and find the double angle that these are turned by."""
    for k in range(c.shape[1]):
        a, d, o = c[SCATTER, k], c[SCATTER + 1, k], c[SCATTER + 2, k]
        half = (a - d) / 2
        radius = sqrt(half * half + o * o)
        largest = (a + d) / 2 + radius
        c[_ALONG, k] = largest
        c[_ALONG + 1, k] = (a * d - o * o) / largest if largest > 0 else 0.0  # a component may consist of one object
        c[_TURN, k], c[_TURN + 1, k] = (half / radius, o / radius) if radius > 0 else (1.0, 0.0)


@compiled()
def _proportional(c):
    """VEE: one matrix, volumes of their own."""
    a, d, o = 0.0, 0.0, 0.0
    for _ in range(INNER_ROUNDS):
        a, d, o = 0.0, 0.0, 0.0
        for k in range(c.shape[1]):
            per = 1 / c[SCALE, k]
            a += c[SCATTER, k] * per
            d += c[SCATTER + 1, k] * per
            o += c[SCATTER + 2, k] * per
        size = sqrt(a * d - o * o)
        a, d, o = a / size, d / size, o / size
        moved = False
        for k in range(c.shape[1]):
            new = (c[SCATTER, k] * d - 2 * c[SCATTER + 2, k] * o + c[SCATTER + 1, k] * a) / (2 * c[SIZE, k])
            moved |= abs(new - c[SCALE, k]) > INNER_TOL * new
            c[SCALE, k] = new
        if not moved:
            break
    for k in range(c.shape[1]):
        _set_covariance(c, k, c[SCALE, k] * a, c[SCALE, k] * d, c[SCALE, k] * o)


@compiled()
def _scaled_scatter(c, common_volume):
    """EVV and VVV: the scatter's own shape and axes."""
    total = 0.0
    for k in range(c.shape[1]):
        size = c[SIZE, k]
        if common_volume:
            size = sqrt(c[SCATTER, k] * c[SCATTER + 1, k] - c[SCATTER + 2, k] * c[SCATTER + 2, k])
        c[_VARIANCE, k] = size
        total += size
    factor = total / row_sum(c, SIZE) if common_volume else 1.0
    for k in range(c.shape[1]):
        per = factor / c[_VARIANCE, k]
        _set_covariance(c, k, c[SCATTER, k] * per, c[SCATTER + 1, k] * per, c[SCATTER + 2, k] * per)


@compiled()
def m_step(model, c, fresh):
    """Turn the scatter of the components into covariances."""
    axes = AXES[model]
    if model in (_EII, _EEE):
        n = row_sum(c, SIZE)
        a, d, o = row_sum(c, SCATTER) / n, row_sum(c, SCATTER + 1) / n, row_sum(c, SCATTER + 2) / n
        if model == _EII:
            a = d = (a + d) / 2
            o = 0.0
        for k in range(c.shape[1]):
            _set_covariance(c, k, a, d, o)
    elif model == _VII:
        for k in range(c.shape[1]):
            value = (c[SCATTER, k] + c[SCATTER + 1, k]) / (2 * c[SIZE, k])
            _set_covariance(c, k, value, value, 0.0)
    elif model == _VEE:
        _proportional(c)
    elif model in (_EVV, _VVV):
        _scaled_scatter(c, model == _EVV)
    elif axes == 0:
        _variances(c, SCATTER, COVARIANCE, COMMON_VOLUME[model], COMMON_SHAPE[model])
        for k in range(c.shape[1]):
            c[COVARIANCE + 2, k] = 0.0
    else:
        if axes == 2:
            _own_axes(c)
        else:
            _common_axes(c, fresh, model == VVE_ML)
        _variances(c, _ALONG, _VARIANCE, COMMON_VOLUME[model], COMMON_SHAPE[model])
        for k in range(c.shape[1]):
            first, second = c[_VARIANCE, k], c[_VARIANCE + 1, k]
            x, y = _single(c[_TURN, k], c[_TURN + 1, k])
            _set_covariance(
                c, k, x * x * first + y * y * second, y * y * first + x * x * second, x * y * (first - second)
            )
