"""Components, routes, wiring, and the application."""
