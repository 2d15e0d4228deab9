"""The paper's studies, computed: tidy tables in, nothing rendered here."""
