"""What people think of answers: kept, listed, and made into gold questions or calibration rows."""
