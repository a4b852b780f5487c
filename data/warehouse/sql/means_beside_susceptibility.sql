-- The mean of a measure and of susceptibility over the queries of a relation that have both.
SELECT
    of_one.model, of_one.dtype, of_one.quantity AS measure, of_one.relation, of_one.query_type,
    of_one.items AS queries, beside.mean AS mean_susceptibility, beside.unit AS unit_beside, of_one.mean, of_one.unit
FROM summaries AS of_one
JOIN summaries AS beside
    ON beside.model = of_one.model AND beside.dtype = of_one.dtype AND beside.relation = of_one.relation
    AND beside.query_type = of_one.query_type AND beside.grouped_by = ['beside']
    AND beside.group_values = [of_one.quantity] AND beside.quantity = 'susceptibility'
WHERE of_one.grouped_by = []
ORDER BY ALL
