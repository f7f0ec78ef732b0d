"""A store in memory: for tests, trials, and as the model other stores are compared with."""
