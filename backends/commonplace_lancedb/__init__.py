"""The LanceDB backend: the index as a Lance table, in a folder, in a bucket or at a service."""
