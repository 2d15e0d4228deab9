"""The local page: drop two tables, see the verdict, take the report along. Serves this computer only."""
