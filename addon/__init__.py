"""Sheet Summaries: a durable summary of every row, from a Google Sheets sidebar."""

__version__ = "0.1.0"
