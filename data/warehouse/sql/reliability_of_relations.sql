-- How far a score of a relation's queries varies between seeds or query forms.
-- needs: reliability
SELECT *
FROM reliability
ORDER BY model, dtype, measure, over, query_type, relation
