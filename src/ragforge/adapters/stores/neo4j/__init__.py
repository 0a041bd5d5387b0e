"""Neo4j: the server store, a graph for teams and for one's own Cypher."""
