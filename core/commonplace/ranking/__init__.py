"""The ranking pipeline that runs after any engine."""
