"""Google on your own machine: Sheets, Drive and Cloud Tasks over loopback, state on disk."""
