"""The sentences of every front end, from the codes and fields of results and errors."""
