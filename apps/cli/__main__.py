"""``python -m lexloop.apps.cli``."""

from lexloop.apps.cli.main import main

if __name__ == "__main__":
    main()
