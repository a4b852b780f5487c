-- How well other measures of a query agree with its susceptibility, over queries and over means of relations.
-- needs: correlations
SELECT *
FROM correlations
ORDER BY measure_a, measure_b, model, dtype, level, query_type
