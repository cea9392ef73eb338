"""The commands that come with the server."""
