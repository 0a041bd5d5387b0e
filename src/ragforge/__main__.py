"""`python -m ragforge` is `ragforge`."""

from ragforge.cli.start import main

if __name__ == "__main__":
    main()
