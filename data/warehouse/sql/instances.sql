-- Every question with a context: its entropy without and with it, how far the answers moved, what the greedy one did.
-- view
SELECT
    asked.model, asked.dtype, asked."partition", asked.relation, asked.question_id, asked.context_id, asked.condition, asked.states_answer,
    asked.subject_key,
    if(asked."partition" <> 'disputable', asked.edits, NULL) AS edits,
    if(asked."partition" = 'disputable', asked.edits, NULL) AS reversions,
    asked.subject_popularity, asked.object_popularity,
    alone.semantic_entropy AS semantic_entropy_without,
    asked.semantic_entropy AS semantic_entropy_with,
    alone.semantic_entropy_length_normalised AS semantic_entropy_length_normalised_without,
    asked.semantic_entropy_length_normalised AS semantic_entropy_length_normalised_with,
    asked.answers, alone.answers AS answers_without,
    asked.coherent_persuasion, asked.coherent_persuasion_unchanged,
    asked.verdict,
    coalesce(asked.outcome, 'unmeasured') AS outcome,
    asked.persuaded_as_published, asked.stubborn_as_published
FROM answers_of_questions AS asked
LEFT JOIN answers_of_questions AS alone
    ON alone.model = asked.model AND alone.dtype = asked.dtype AND alone.relation = asked.relation
    AND alone.question_id = asked.question_id AND alone.condition = 'none'
WHERE asked.condition <> 'none'
ORDER BY asked.model, asked.dtype, asked."partition", asked.relation, asked.question_id, asked.context_id
