"""Context, routes, wiring, and the application."""
