"""One module per part of the library."""
