-- Mean of a measure and mean susceptibility in a relation, over the queries with both scores.
-- needs: summaries
SELECT
    measures.model, measures.dtype, measures.quantity AS measure, measures.relation, measures.query_type,
    measures.items AS queries, beside.mean AS mean_susceptibility, beside.unit AS unit_beside, measures.mean, measures.unit
FROM summaries AS measures
JOIN summaries AS beside
    ON beside.model = measures.model AND beside.dtype = measures.dtype AND beside.relation = measures.relation
    AND beside.query_type = measures.query_type AND beside.grouped_by = ['beside']
    AND beside.group_values = [measures.quantity] AND beside.quantity = 'susceptibility'
WHERE measures.grouped_by = []
ORDER BY ALL
