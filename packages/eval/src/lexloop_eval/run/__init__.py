"""Asking gold questions under one or many variants, and keeping what came of it."""
