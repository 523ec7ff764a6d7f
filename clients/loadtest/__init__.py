"""Load tests: scripted clients that play whole games against a service, and a report of what that was like.

`make load`, or `python -m clients.loadtest`, runs one; docs/load-test.md tells how and what the report says.

Rooms: `locustfile` is what Locust loads (options, one user class a game, the run's beginning and end); `table` plays a
game with all its seats; `recorder` takes down how long things took, and adds up what several processes took down;
`generator` looks at the load generator itself; `replays` checks histories; `summary` and `limits` make of it what the
report says; `report` and `page` write it.
"""
