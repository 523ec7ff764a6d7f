"""Names from the contract that are not in its messages."""

from typing import Final

GAME_SERVICE: Final = "sodafountain.v1.GameService"
"""The full name of the service."""
ERROR_DOMAIN: Final = "sodafountain.v1"
"""The domain of every ErrorInfo."""
