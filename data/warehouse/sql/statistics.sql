-- Every test, the largest effects of a comparison and query type first, the untestable last.
SELECT COLUMNS(lambda name: name <> 'file_id')
FROM statistics
ORDER BY comparison, query_type, effect_size DESC NULLS LAST, model, dtype, relation
