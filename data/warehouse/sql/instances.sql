-- Each instance (a question with a context), with both semantic entropies, coherent persuasion and outcome.
-- The entropies are without and with the context.
-- view
-- needs: answers_of_questions
SELECT
    with_context.model, with_context.dtype, with_context."partition", with_context.relation, with_context.question_id, with_context.context_id, with_context.condition, with_context.states_answer,
    with_context.subject_key,
    if(with_context."partition" <> 'disputable', with_context.edits, NULL) AS edits,
    if(with_context."partition" = 'disputable', with_context.edits, NULL) AS reversions,
    with_context.subject_popularity, with_context.object_popularity,
    closed_book.semantic_entropy AS semantic_entropy_without,
    with_context.semantic_entropy AS semantic_entropy_with,
    closed_book.semantic_entropy_length_normalised AS semantic_entropy_length_normalised_without,
    with_context.semantic_entropy_length_normalised AS semantic_entropy_length_normalised_with,
    with_context.answers, closed_book.answers AS answers_without,
    with_context.coherent_persuasion, with_context.coherent_persuasion_unchanged,
    with_context.verdict,
    coalesce(with_context.outcome, 'unmeasured') AS outcome,
    with_context.persuaded_as_published, with_context.stubborn_as_published
FROM answers_of_questions AS with_context
LEFT JOIN answers_of_questions AS closed_book
    ON closed_book.model = with_context.model AND closed_book.dtype = with_context.dtype AND closed_book.relation = with_context.relation
    AND closed_book.question_id = with_context.question_id AND closed_book.condition = 'none'
WHERE with_context.condition <> 'none'
ORDER BY with_context.model, with_context.dtype, with_context."partition", with_context.relation, with_context.question_id, with_context.context_id
