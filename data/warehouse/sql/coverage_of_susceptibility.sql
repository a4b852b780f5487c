-- How many queries, entities and relations a model's susceptibility is of, and how many contexts a query had.
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
