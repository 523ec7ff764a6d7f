"""`python -m service` is the command `sodafountain`."""

from service.commands.main import main

if __name__ == "__main__":
    main()
