"""What people thought of answers, kept and made into questions and calibration rows."""
