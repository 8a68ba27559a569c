"""`python -m judgekit`."""

from judgekit.cli import main

if __name__ == "__main__":
    main()
