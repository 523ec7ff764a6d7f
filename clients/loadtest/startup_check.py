"""Reject a run with invalid options or an unsuitable service before Locust starts it."""

import sys
import time
from typing import Any, Final, NoReturn

import flask
import gevent
from locust.env import Environment
from locust.runners import MasterRunner

from clients.loadtest.options import validate_form
from clients.loadtest.preflight import find_problem, print_error

JOIN_SECONDS: Final = 30.0


class StartupCheck:
    """Check each run of a standalone or master process; without Locust's web page, exit if the check fails."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        options = environment.parsed_options
        assert options is not None
        self._options = options
        if environment.web_ui:
            # Registered before the other listeners, which must not see a rejected run.
            environment.events.test_start.add_listener(self._check_start)
            app = environment.web_ui.app
            assert app is not None
            app.before_request(self._check_form)
        elif problem := find_problem(environment.host, options):
            self._exit(problem)

    def _exit(self, problem: str) -> NoReturn:
        print_error(problem)
        # Workers that Locust forked receive `quit` only after they have joined. Other workers wait for another master.
        runner = self._environment.runner
        if isinstance(runner, MasterRunner) and self._options.processes:
            deadline = time.monotonic() + JOIN_SECONDS
            while len(runner.clients.ready) < self._options.processes and time.monotonic() < deadline:
                gevent.sleep(0.1)
            runner.quit()
        sys.exit(2)

    def _check_start(self, **_: Any) -> None:
        """Kill the greenlet that starts the run if the check fails."""
        # Keeps status 2 if the process ends during the check.
        self._environment.process_exit_code = 2
        if problem := find_problem(self._environment.host, self._options):
            print_error(problem)
            raise gevent.GreenletExit
        self._environment.process_exit_code = None

    def _check_form(self) -> flask.Response | None:
        """Reject a start form with invalid options, in Locust's own format: Locust does not validate them."""
        if flask.request.method == "POST" and flask.request.path.endswith("/swarm"):
            try:
                validate_form(flask.request.form)
            except ValueError as error:
                print_error(str(error))
                return flask.jsonify({"success": False, "message": str(error), "host": self._environment.host})
        return None
