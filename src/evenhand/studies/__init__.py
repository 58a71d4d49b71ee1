"""The use cases, as plain functions."""
