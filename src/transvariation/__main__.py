"""Run the command line as `python -m transvariation`."""

from transvariation.cli import main

main()
