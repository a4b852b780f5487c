-- Each judgement of a person, in the order of the files.
-- needs: judgements
SELECT number, field, question_id, context_id, variant, sample, judged, value, annotator, problem, is_outvoted
FROM judgements
ORDER BY number
