"""Google's side: Sheets, Drive, Cloud Tasks and identity, each over its own wire protocol."""
