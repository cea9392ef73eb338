"""Asking gold questions under one or many variants, and recording the results."""
