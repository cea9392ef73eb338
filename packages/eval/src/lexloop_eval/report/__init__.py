"""Tables and pages made of a run."""
