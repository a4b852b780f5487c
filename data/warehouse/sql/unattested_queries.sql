-- Every query with its susceptibility about a real entity, or about an invented one that the counted corpus never names.
-- needs: frequency_of_queries
SELECT model, dtype, relation, query_type, form, entity, invented, query_id, susceptibility
FROM frequency_of_queries
WHERE NOT invented OR entity_count = 0
ORDER BY model, dtype, relation, query_type, query_id
