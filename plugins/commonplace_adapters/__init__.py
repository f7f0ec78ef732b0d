"""Memory for the SDKs of agents: one module for each SDK, imported by the programs that use it."""
