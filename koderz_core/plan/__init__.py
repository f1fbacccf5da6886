"""From an order to a plan: an order comes from a page, a command or Python, and everything that it means is found here.

It knows neither the runner nor the store: what is known of the past is handed in as ``Evidence``.
"""
