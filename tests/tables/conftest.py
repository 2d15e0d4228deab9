"""How hard the reader is fuzzed: briefly with the tests, at length by `make fuzz`."""

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("brief", max_examples=100, derandomize=True, database=None, **_COMMON)
settings.register_profile("fuzz", max_examples=5_000, **_COMMON)
settings.load_profile("brief")
