"""Asking gold questions under one or many rows of settings, and keeping what came of it."""
