"""The commands that come with the workbench."""
