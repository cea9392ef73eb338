"""Output formats of the workbench's results."""
