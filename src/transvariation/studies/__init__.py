"""The paper's glass analysis and simulation study, as tables; :mod:`transvariation.report` renders them."""
