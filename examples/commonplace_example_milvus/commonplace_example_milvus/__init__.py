"""An example of a distribution from outside: a store on Milvus, a ranker, a provider."""
