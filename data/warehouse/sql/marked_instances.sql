-- Every instance with both entropies and its outcomes, the most edited and the most viewed marked.
-- view
-- The 100 with most edits of the fact, and the 100 with most page views of the subject, of a model's; a tenth of the
-- instances where these are fewer than 1,000. Reversions of disputable questions do not count as edits of a fact. Of
-- equals, the first by question are taken.
WITH ranked AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY model, dtype, edits IS NULL
            ORDER BY edits DESC, relation, question_id, context_id
        ) AS by_edits,
        row_number() OVER (
            PARTITION BY model, dtype, subject_popularity IS NULL
            ORDER BY subject_popularity DESC, relation, question_id, context_id
        ) AS by_views,
        least(100, ceil(count(*) OVER (PARTITION BY model, dtype) / 10)) AS marked
    FROM instances
)
SELECT
    model, dtype, "partition", relation, question_id, context_id, condition, edits, subject_popularity,
    semantic_entropy_without, semantic_entropy_with, outcome, persuaded_as_published, stubborn_as_published,
    edits IS NOT NULL AND by_edits <= marked AS most_edited,
    subject_popularity IS NOT NULL AND by_views <= marked AS most_viewed
FROM ranked
ORDER BY model, dtype, "partition", relation, question_id, context_id
