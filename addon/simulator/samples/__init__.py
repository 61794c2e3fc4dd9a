"""A sheet to try the add-on with; the inquiries and the people in it are made up."""

from pathlib import Path

SAMPLE = Path(__file__).parent / "inquiries.csv"
"""Forty customer inquiries in English and Japanese, without a column for summaries."""
