"""Writing notes before a compaction: when an agent is asked, what it is asked, and the asking."""
