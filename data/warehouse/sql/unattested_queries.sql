-- Each query about a counted real entity, or about an invented entity that the corpus lacks, with its susceptibility.
-- needs: frequency_of_queries
SELECT model, dtype, relation, query_type, form, entity, invented, query_id, susceptibility
FROM frequency_of_queries
WHERE NOT invented OR entity_count = 0
ORDER BY model, dtype, relation, query_type, query_id
