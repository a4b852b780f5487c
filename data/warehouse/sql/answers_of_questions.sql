-- Every question alone and with each of its contexts, with all that was measured of it; NULL where a measure was not run.
-- view
-- unit: samples_that_follow = share
WITH asked AS (
    SELECT
        model, dtype, relation, question_id, context_id, condition,
        string_agg(DISTINCT stand_in, '; ' ORDER BY stand_in) AS stand_in
    FROM (
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM answers
        UNION
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM clusters
        UNION
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM semantic_entropy
        UNION
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM coherent_persuasion
        UNION
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM accuracy
        UNION
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM persuaded
        UNION
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM whose_answer
        UNION
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM context_utilisation
    )
    GROUP BY model, dtype, relation, question_id, context_id, condition
),
said AS (
    SELECT
        model, dtype, relation, question_id, context_id,
        any_value("text") FILTER (WHERE sample IS NULL AND NOT missing) AS greedy,
        max(context_cut) AS context_cut,
        count(sample) FILTER (WHERE NOT missing) AS answers,
        count(sample) FILTER (WHERE state IN ('empty', 'tool_call')) AS empty_answers,
        count(sample) FILTER (WHERE state = 'truncated') AS unfinished_answers,
        count(*) FILTER (WHERE state = 'unfinished_thoughts') AS unfinished_thoughts,
        count(*) FILTER (WHERE state = 'withheld') AS withheld,
        bool_or(state = 'truncated') FILTER (WHERE sample IS NULL) AS greedy_unfinished
    FROM (SELECT *, state IN ('withheld', 'unfinished_thoughts', 'failed', 'unrecorded', 'not_asked') AS missing FROM answers) AS answers
    GROUP BY model, dtype, relation, question_id, context_id
),
stated AS (
    SELECT
        model, dtype, relation, question_id, context_id,
        any_value(verdict) FILTER (WHERE sample IS NULL) AS verdict,
        any_value(reason) FILTER (WHERE sample IS NULL) AS reason,
        any_value(outcome) AS outcome,
        any_value(decided_by) FILTER (WHERE sample IS NULL) AS decided_by,
        any_value(decider) FILTER (WHERE sample IS NULL) AS decider,
        avg((verdict IN ('context', 'both'))::DOUBLE) FILTER (WHERE sample IS NOT NULL) AS samples_that_follow
    FROM stated_answers
    GROUP BY model, dtype, relation, question_id, context_id
)
SELECT
    asked.model, asked.dtype, questions."partition", asked.relation, asked.question_id,
    questions.subject, coalesce(questions.subject_id, nullif(questions.subject, ''), questions.question_id) AS subject_key,
    questions.question, asked.context_id, asked.condition, contexts.evidence_set, contexts.passage_order,
    contexts.answers <> '[]' AS states_answer,
    questions.edits, questions.subject_popularity, questions.object_popularity,
    entropy.semantic_entropy, entropy.semantic_entropy_length_normalised, entropy.semantic_entropy_rao,
    entropy.cluster_assignment_entropy,
    entropy.semantic_entropy_standard_error, entropy.semantic_entropy_length_normalised_standard_error,
    entropy.semantic_entropy_rao_standard_error, entropy.cluster_assignment_entropy_standard_error,
    entropy."groups", array_to_string(entropy.group_sizes, ', ') AS group_sizes,
    said.context_cut, said.answers, said.empty_answers, said.unfinished_answers, said.unfinished_thoughts, said.withheld, said.greedy_unfinished,
    coalesce(said.greedy, accuracy.answer) AS answer,
    accuracy.accurate,
    coherent.coherent_persuasion, coherent.coherent_persuasion_standard_error, coherent.coherent_persuasion_unchanged,
    stated.verdict, stated.reason, stated.outcome, stated.decided_by, stated.decider, stated.samples_that_follow,
    swayed.persuaded AS persuaded_as_published, swayed.stubborn AS stubborn_as_published,
    utilised.binary_utilisation, utilised.continuous_utilisation,
    asked.stand_in
FROM asked
JOIN questions USING (relation, question_id)
LEFT JOIN question_contexts AS contexts USING (relation, question_id, context_id)
LEFT JOIN said USING (model, dtype, relation, question_id, context_id)
LEFT JOIN semantic_entropy AS entropy USING (model, dtype, relation, question_id, context_id)
LEFT JOIN coherent_persuasion AS coherent USING (model, dtype, relation, question_id, context_id)
LEFT JOIN accuracy USING (model, dtype, relation, question_id, context_id)
LEFT JOIN stated USING (model, dtype, relation, question_id, context_id)
LEFT JOIN context_utilisation AS utilised USING (model, dtype, relation, question_id, context_id)
LEFT JOIN persuaded AS swayed USING (model, dtype, relation, question_id, context_id)
ORDER BY asked.model, asked.dtype, asked.relation, asked.question_id, asked.context_id
