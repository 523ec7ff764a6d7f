"""Reading secrets from files and environment variables, never from flags, which other users can list."""

import os
from pathlib import Path

import structlog

from service.access import new_token_key, parse_token_keys

_log = structlog.get_logger()


class CannotReadKeys(Exception):
    """A file with keys cannot be read or is invalid; the text says why."""


def read_secret(path: Path | None, variable: str) -> str:
    """Return the text of a file, or of an environment variable if `path` is None.

    Raises:
        CannotReadKeys: the file cannot be read, or is empty.
    """
    if path is None:
        return os.environ.get(variable, "").strip()
    try:
        text = path.read_text().strip()
    except OSError as error:
        raise CannotReadKeys(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CannotReadKeys(f"{path} does not contain keys: it is not a text file") from None
    if not text:
        raise CannotReadKeys(f"{path} contains no keys: it is empty")
    return text


def warn_if_readable_by_all(path: Path) -> None:
    """Log a warning if every user of the machine can read a file with secrets."""
    if path.stat().st_mode & 0o004:
        _log.warning("secret_readable_by_all", path=str(path), advice="chmod o-r")


def embedded_token_keys(data_dir: Path) -> str:
    """Return the token keys of an embedded store, generated on first use: tokens live as long as their games.

    Raises:
        CannotReadKeys: the file cannot be read or written, or is invalid.
    """
    path = data_dir / "token-keys"
    try:
        if not path.exists():
            temporary = path.with_suffix(f".{os.getpid()}")
            temporary.touch(mode=0o600)
            with temporary.open("w") as file:
                file.write(new_token_key() + "\n")
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        keys = path.read_text().strip()
        parse_token_keys(keys)
    except OSError as error:
        raise CannotReadKeys(f"cannot read {path}: {error.strerror}") from None
    except ValueError:  # includes UnicodeDecodeError
        raise CannotReadKeys(f"{path} does not contain valid token keys") from None
    return keys
