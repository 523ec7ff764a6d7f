"""`sodafountain finalize-upgrade`."""

from pathlib import Path

import click

from service.commands.parameters import fail, setting

_SECONDS = 5.0


@click.command(name="finalize-upgrade", short_help="Let an upgraded service write its newest stored format.")
@setting("--store-url", help="The store of the service.  [default: the embedded store of --data-dir, if it runs]")
@setting(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="The data directory of a service with an embedded store.  [default: that of `serve`]",
)
def finalize_upgrade(store_url: str | None, data_dir: Path | None) -> None:
    """Raise the active format of the store to the newest one of this release.

    Run it once no server of an earlier release runs any more, and none has to be rolled back to. Until then, an
    upgraded service writes the earlier format, which both releases read. Games are not changed: every release reads
    all earlier formats. Exit status: 0, or 1 if the format cannot be raised.
    """
    from service.games.formats import NEWEST
    from service.server.settings import default_data_dir
    from service.store import StoreError, StoreUnavailable, connect
    from service.store.embedded import EmbeddedStoreError, EmbeddedValkey

    try:
        store = connect(store_url or EmbeddedValkey(data_dir or default_data_dir()).find())
    except (ValueError, EmbeddedStoreError) as error:
        fail(str(error))
    try:
        active = store.administration.active_format(NEWEST, timeout=_SECONDS)
        if active > NEWEST:
            fail(f"the store has format {active}, which is newer than this release", status=1)
        if active == NEWEST:
            click.echo(f"The store has format {NEWEST}, the newest of this release: nothing to do.")
        elif store.administration.raise_format(active, NEWEST, timeout=_SECONDS):
            click.echo(f"The store has format {NEWEST} now; it had format {active}. Servers notice within 5 seconds.")
        else:
            fail("the format was changed at the same time: run the command again", status=1)
    except StoreUnavailable as error:
        fail(f"the store is unavailable: {error}; set --store-url, or --data-dir while its service runs", status=1)
    except StoreError as error:
        fail(str(error), status=1)
    finally:
        store.close()
