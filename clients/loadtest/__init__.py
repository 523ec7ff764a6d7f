"""Load tests: scripted clients play complete games against a service, and a report says how it performed.

Start one with `make load` or `python -m clients.loadtest`; docs/load-test.md describes the options and the report.

Modules: `locustfile` is the file that Locust loads; `startup_check` and `preflight` reject a run that cannot succeed;
`coordinator` starts and ends the runs of a process; `game_session` plays one game with all its seats; `recorder` stores
measurements and merges those of several processes; `generator` samples the load generator itself; `replays` checks
histories; `summary` and `limits` compute the report; `report` and `page` write it.
"""
