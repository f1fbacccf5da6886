"""Metrics of this process: which benchmarks they watch, and the address where Prometheus reads them."""

from __future__ import annotations

import logging
from threading import Lock
from typing import TYPE_CHECKING

from koderz_core import __version__
from koderz_core.addresses import url_of
from koderz_core.config import Settings

if TYPE_CHECKING:
    from koderz_core.metrics.benchmark_watch import BenchmarkWatch
    from koderz_core.metrics.endpoint import MetricsServer
    from koderz_core.metrics.metrics import Metrics

_LOG = logging.getLogger("koderz")


class Monitoring:
    """Without the setting ``metrics_address`` or another use of ``metrics``, nothing is measured or imported."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._metrics: Metrics | None = None
        self._server: MetricsServer | None = None
        self._tried = False
        self._guard = Lock()  # guards all three

    @property
    def metrics(self) -> Metrics:
        """The metrics. From the first use on, they watch every benchmark that starts."""
        from koderz_core.metrics.metrics import Metrics  # noqa: PLC0415 (only if there is a reader)

        with self._guard:
            self._metrics = self._metrics or Metrics(__version__)
            return self._metrics

    def begin(self) -> str | None:
        """Serve the metrics at ``metrics_address``, if it is set; return the URL, None if they are not served.

        An address that cannot be used is a warning: benchmarks run without their metrics too.
        """
        if not self._settings.metrics_address:
            return None
        from koderz_core.metrics.endpoint import MetricsServer  # noqa: PLC0415 (as above)

        metrics = self.metrics
        host, _, port = self._settings.metrics_address.rpartition(":")
        host = host.strip("[]")
        with self._guard:
            if not self._tried:
                self._tried = True
                try:
                    self._server = MetricsServer(host, int(port), metrics.text)
                except OSError as error:
                    _LOG.warning(
                        "No metrics are served, because %s cannot be used: %s. Another koderz may use this port. Set "
                        "KODERZ_METRICS_ADDRESS to another port for this process.",
                        url_of(host, int(port)),
                        error.strerror or error,
                    )
            return self._server.url if self._server else None

    def watch(self) -> BenchmarkWatch | None:
        """The watch of a new benchmark; None if there are no metrics."""
        self.begin()
        with self._guard:
            return self._metrics.watch() if self._metrics else None

    def close(self) -> None:
        """Stop to serve the metrics. Idempotent."""
        with self._guard:
            server, self._server, self._tried = self._server, None, True
        if server:
            server.close()
