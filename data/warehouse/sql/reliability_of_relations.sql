-- How far a score of a relation's queries varies between seeds or query forms.
SELECT COLUMNS(lambda name: name <> 'file_id')
FROM reliability
ORDER BY model, dtype, measure, over, query_type, relation
