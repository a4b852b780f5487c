-- Numbers of queries, entities and relations behind each model's susceptibility, and of contexts of a query.
-- needs: susceptibility_of_queries
SELECT
    model, dtype,
    count(*) AS queries,
    count(DISTINCT entity) AS entities,
    count(DISTINCT relation) AS relations,
    min(contexts) AS fewest_contexts,
    max(contexts) AS most_contexts
FROM susceptibility_of_queries
GROUP BY model, dtype
ORDER BY model, dtype
