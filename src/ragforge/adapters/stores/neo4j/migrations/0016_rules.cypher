// Rules are notes that always arrive. A note corrects older notes and turns that it contradicts; of
// others the user said that they hold next to it.
MATCH (n:Note) WHERE n.is_rule IS NULL
CALL (n) { SET n.is_rule = false, n.corrects = [], n.keeps = [] } IN TRANSACTIONS OF 10000 ROWS;
