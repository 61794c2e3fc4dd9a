"""`python -m addon`."""

from addon.cli import main

if __name__ == "__main__":
    main()
