"""The service: games over gRPC, stored in Redis or Valkey.

The packages are layers; each imports only those below it: commands, server, transport, watching, verification,
translation, games (the core) beside access and gateway, store, threads, observability, network and contract.

**The path of a move** (ApplyMove), from the wire to the store and back. `transport.errors` turns any exception on this
path into a status, unless the caller has disconnected.

     1  `transport.admission`     waits for the request; rejects it while the server drains or the call limit is reached
     2  `transport.requests`      parses it and checks its fields by the table in `transport.validation`
     3  `transport.servicer`      authorizes the caller for a seat, with `access`
     4  `translation.translation` turns the message into the engine's move, encoded and hashed
     5  `games.repository`        acquires the game's lock and takes the game from the cache or the store
     6  `games.game`              checks seat, kind and etag; the engine applies the move; head and decisions follow
     7  `store.games`             sends the commit to the server that holds the game (`client`, `topology`)
     8  `store.scripts`           detects a repeat, compares the head, appends to the log, sets the game, notifies
     9  `games.repository`        caches the new game; retries on a newer head; confirms a request committed before
    10  `translation.projection`  builds events and state for the seat, from what the game's view shows to the seat
    11  `transport.handlers`      logs, counts and traces the call, and responds
    12  `store.notifications`     receives the notification in every process that watches the game
    13  `watching.watchers`       reads the game once, and sends each watcher the changes that it has not received

**NewGame** has the same steps 1, 2 and 11. Between them, `access` checks the API key; the options become the engine's;
`games.repository` deals the game; `games.reservations` returns one id for all repeats of the request; `games.quotas`
counts the game; the create script stores it unless it exists; `access` signs the tokens, and the projection builds the
spectator's state. No notification is sent, since the game has no watchers yet.
"""
