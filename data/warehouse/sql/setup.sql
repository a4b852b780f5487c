-- What the study asks with: entities, queries, contexts and questions, of a relation at least and at most, and in total.
-- Contexts of a query are those over which its susceptibility is a mean, of a query at least and at most; relevant
-- contexts mention its entity. Every model is asked with the same contexts.
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
