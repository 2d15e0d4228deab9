"""The local page: load two tables, read the conclusions, save the report. Serves this computer only."""
