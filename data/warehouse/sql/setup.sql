-- Numbers of entities, queries, contexts and questions in the study: fewest and most in a relation, and in total.
-- `contexts of a query` are the contexts behind its susceptibility: fewest and most of a query. Relevant contexts
-- mention the query's entity. Every model reads the same contexts.
WITH counted AS (
    SELECT 'entities' AS quantity, if(invented, 'invented', 'real') AS "of", relation, count(DISTINCT entity) AS n
    FROM queries GROUP BY ALL
    UNION ALL
    SELECT 'queries', query_type, relation, count(*) FROM queries GROUP BY ALL
    UNION ALL
    SELECT 'contexts', kind, relation, count(*) FROM contexts GROUP BY ALL
    UNION ALL
    SELECT 'questions', partition, relation, count(*) FROM questions GROUP BY ALL
)
SELECT quantity, "of", count(*) AS relations, min(n) AS fewest, max(n) AS most, sum(n)::BIGINT AS total
FROM counted
GROUP BY ALL
UNION ALL
SELECT 'contexts of a query', '', count(DISTINCT relation), min(contexts), max(contexts), NULL FROM susceptibility
HAVING count(*) > 0
UNION ALL
SELECT
    'contexts of a query', 'relevant', count(DISTINCT relation), min(smallest)::BIGINT, max(largest)::BIGINT, NULL
FROM summaries
WHERE quantity = 'relevant_contexts'
HAVING count(*) > 0
ORDER BY ALL
