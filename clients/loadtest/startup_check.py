"""Lets a run begin only if it can be one."""

import sys
import time
from typing import Any, Final, NoReturn

import flask
import gevent
from locust.env import Environment
from locust.runners import MasterRunner

from clients.loadtest.options import check_fields
from clients.loadtest.preflight import refusal, say

JOIN_SECONDS: Final = 30.0


class Gate:
    """Refuses a run that cannot be one, in a process that is alone or a master; without a page it ends the process."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        options = environment.parsed_options
        assert options is not None
        self._options = options
        if environment.web_ui:
            # Before others who listen: they learn only of runs that begin.
            environment.events.test_start.add_listener(self._let_begin)
            app = environment.web_ui.app
            assert app is not None
            app.before_request(self._check_form)
        elif reason := refusal(environment.host, options):
            self._end(reason)

    def _end(self, reason: str) -> NoReturn:
        say(reason)
        # Locust's own workers hear of it only once they have joined; others wait for another master.
        runner = self._environment.runner
        if isinstance(runner, MasterRunner) and self._options.processes:
            give_up = time.monotonic() + JOIN_SECONDS
            while len(runner.clients.ready) < self._options.processes and time.monotonic() < give_up:
                gevent.sleep(0.1)
            runner.quit()
        sys.exit(2)

    def _let_begin(self, **_: Any) -> None:
        """Ends the greenlet that starts a run, if there is to be none."""
        # So it stays if the time is up first.
        self._environment.process_exit_code = 2
        if reason := refusal(self._environment.host, self._options):
            say(reason)
            raise gevent.GreenletExit
        self._environment.process_exit_code = None

    def _check_form(self) -> flask.Response | None:
        """Answers in Locust's way when its page would begin with options that cannot be: it takes them as they are."""
        if flask.request.method == "POST" and flask.request.path.endswith("/swarm"):
            try:
                check_fields(flask.request.form)
            except ValueError as error:
                say(str(error))
                return flask.jsonify({"success": False, "message": str(error), "host": self._environment.host})
        return None
