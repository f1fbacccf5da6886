"""Metrics of this process: which benchmarks they watch, where Prometheus reads them, and who receives them."""

from __future__ import annotations

import logging
from threading import Lock
from typing import TYPE_CHECKING

from koderz_core import __version__
from koderz_core.addresses import url_of
from koderz_core.config import Settings
from koderz_core.otlp import endpoint, receiver
from koderz_core.settings_fields import headers_in

if TYPE_CHECKING:
    from koderz_core.metrics.benchmark_watch import BenchmarkWatch
    from koderz_core.metrics.endpoint import MetricsServer
    from koderz_core.metrics.metrics import Metrics
    from koderz_core.metrics.sender import MetricsSender

_LOG = logging.getLogger("koderz")


class Monitoring:
    """Without a setting that names a reader, or another use of ``metrics``, nothing is measured or imported."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._metrics: Metrics | None = None
        self._server: MetricsServer | None = None
        self._sender: MetricsSender | None = None
        self._tried = self._closed = False
        self._guard = Lock()  # guards all of these

    @property
    def metrics(self) -> Metrics:
        """The metrics. From the first use on, they watch every benchmark that starts."""
        from koderz_core.metrics.metrics import Metrics  # noqa: PLC0415 (only if there is a reader)

        with self._guard:
            self._metrics = self._metrics or Metrics(__version__)
            return self._metrics

    def begin(self) -> str | None:
        """Serve and send the metrics, as far as this is set; return the URL where they are served, None without one.

        Raises UsageError if a package is missing.
        """
        self.begin_sending()
        return self._serve()

    def begin_sending(self) -> None:
        """Send the metrics to the receiver, if one is set. Raises UsageError."""
        if not self._settings.metrics_otlp:
            return
        from koderz_core.metrics.sender import PATH, MetricsSender  # noqa: PLC0415 (only if there is a receiver)

        metrics, headers = self.metrics, self._settings.metrics_otlp_headers
        stated = headers_in(headers) if headers else {}
        to = endpoint(receiver(self._settings.metrics_otlp), PATH, stated.items())
        with self._guard:
            if not (self._sender or self._closed):
                self._sender = MetricsSender(to, metrics.registry, __version__, self._settings.check_egress)

    def _serve(self) -> str | None:
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
                        "No metrics are served, because %s cannot be used: %s. Perhaps another process already uses "
                        "this port. Set KODERZ_METRICS_ADDRESS to another port for this process.",
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
        """Send the metrics once more, and stop to send and serve them. Idempotent."""
        with self._guard:
            server, self._server, self._tried = self._server, None, True
            sender, self._sender, self._closed = self._sender, None, True
        if sender:
            sender.close()
        if server:
            server.close()
