"""Tests of the page, some of them in a browser."""
