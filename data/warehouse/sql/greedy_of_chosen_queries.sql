-- Each chosen query and model, with susceptibility and the five most frequent greedy replies over the query's contexts.
-- needs: chosen_queries, susceptibility
WITH said AS (
    SELECT g.model, g.dtype, g.relation, g.query_id, g."text" AS greedy, count(*) AS times
    FROM greedy_answers AS g
    SEMI JOIN chosen_queries USING (relation, query_id)
    GROUP BY g.model, g.dtype, g.relation, g.query_id, g."text"
    QUALIFY
        row_number() OVER (PARTITION BY g.model, g.dtype, g.relation, g.query_id ORDER BY times DESC, g."text") <= 5
)
SELECT s.model, s.dtype, s.relation, s.query_id, s.susceptibility, s.contexts, said.greedy, said.times
FROM susceptibility AS s
SEMI JOIN chosen_queries USING (relation, query_id)
LEFT JOIN said USING (model, dtype, relation, query_id)
ORDER BY s.relation, s.query_id, s.model, s.dtype, said.times DESC, said.greedy
