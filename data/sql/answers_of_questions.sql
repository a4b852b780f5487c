-- Every question under every condition with all that was measured of it; NULL where a measure was not run.
WITH asked AS (
    SELECT
        model, dtype, relation, question_id, condition,
        string_agg(DISTINCT stand_in, '; ' ORDER BY stand_in) AS stand_in
    FROM (
        SELECT model, dtype, relation, question_id, condition, stand_in FROM answers
        UNION
        SELECT model, dtype, relation, question_id, condition, stand_in FROM semantic_entropy
        UNION
        SELECT model, dtype, relation, question_id, condition, stand_in FROM coherent_persuasion
        UNION
        SELECT model, dtype, relation, question_id, condition, stand_in FROM accuracy
        UNION
        SELECT model, dtype, relation, question_id, condition, stand_in FROM persuaded
    )
    GROUP BY model, dtype, relation, question_id, condition
),
greedy AS (
    SELECT model, dtype, relation, question_id, condition, "text"
    FROM answers
    WHERE sample IS NULL
)
SELECT
    asked.model, asked.dtype, questions."partition", asked.relation, asked.question_id,
    questions.subject, questions.question, asked.condition,
    questions.edits, questions.subject_popularity, questions.object_popularity,
    entropy.semantic_entropy, entropy.semantic_entropy_length_normalised, entropy.semantic_entropy_rao,
    entropy.cluster_assignment_entropy, entropy."groups",
    coalesce(greedy."text", accuracy.answer) AS answer,
    accuracy.accurate,
    coherent.coherent_persuasion,
    swayed.persuaded, swayed.stubborn,
    asked.stand_in
FROM asked
JOIN questions USING (relation, question_id)
LEFT JOIN greedy USING (model, dtype, relation, question_id, condition)
LEFT JOIN semantic_entropy AS entropy USING (model, dtype, relation, question_id, condition)
LEFT JOIN coherent_persuasion AS coherent USING (model, dtype, relation, question_id, condition)
LEFT JOIN accuracy USING (model, dtype, relation, question_id, condition)
LEFT JOIN persuaded AS swayed USING (model, dtype, relation, question_id, condition)
ORDER BY asked.model, asked.dtype, asked.relation, asked.question_id, asked.condition
