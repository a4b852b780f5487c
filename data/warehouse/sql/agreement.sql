-- How well other measures of a query agree with its susceptibility, over queries and over means of relations.
SELECT COLUMNS(lambda name: name <> 'file_id')
FROM agreement
ORDER BY measure_a, measure_b, model, dtype, level, query_type
