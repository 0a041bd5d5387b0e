"""`python -m ragforge` is `ragforge`."""

from ragforge.cli.main import main

if __name__ == "__main__":
    main()
