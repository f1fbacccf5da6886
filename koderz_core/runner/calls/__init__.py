"""How models are asked, by one policy for all of them: attempts and waits, limits and breaker of each provider."""
