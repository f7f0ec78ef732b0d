"""Memories of an agent with importance and category, in LanceDB: recalled, captured, exported."""
