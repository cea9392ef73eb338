"""Searching settings on one part of the gold questions and reporting on the other."""
