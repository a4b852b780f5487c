-- Each instance with its semantic entropy without and with the context, its coherent persuasion and its entropy class.
-- The class is by semantic entropy with the context; NULL if the instance is in no class.
-- needs: instances, summaries
WITH cut AS (
    SELECT DISTINCT
        model, dtype, group_values[4]::DOUBLE AS low_up_to, group_values[5]::DOUBLE AS middle_from,
        group_values[6]::DOUBLE AS middle_up_to, group_values[7]::DOUBLE AS high_from
    FROM summaries
    WHERE quantity = 'class_semantic_entropy_with'
)
SELECT
    i.model, i.dtype, i."partition", i.relation, i.question_id, i.context_id, i.condition,
    i.semantic_entropy_without, i.semantic_entropy_with, i.coherent_persuasion,
    CASE
        WHEN i.semantic_entropy_with <= cut.low_up_to THEN 'low'
        WHEN i.semantic_entropy_with > cut.middle_from AND i.semantic_entropy_with <= cut.middle_up_to THEN 'middle'
        WHEN i.semantic_entropy_with > cut.high_from THEN 'high'
    END AS entropy_class
FROM instances AS i
JOIN cut USING (model, dtype)
ORDER BY i.model, i.dtype, i."partition", i.relation, i.question_id, i.context_id
