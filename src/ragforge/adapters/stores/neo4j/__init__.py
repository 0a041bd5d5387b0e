"""Neo4j: the server store, a graph for teams and custom Cypher queries."""
