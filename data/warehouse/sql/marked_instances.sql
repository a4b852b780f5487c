-- Each instance with semantic entropies, coherent persuasion and outcomes; the most edited and most viewed are marked.
-- view
-- `most_edited`: a model's 100 temporal instances with the most edits of the fact. `most_viewed`: the 100 with the most
-- page views of the subject. If there are fewer than 1,000 temporal instances, a tenth is marked. Of equal instances,
-- the first by question are marked.
-- needs: instances
WITH ranked AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY model, dtype, "partition", edits IS NULL
            ORDER BY edits DESC, relation, question_id, context_id
        ) AS by_edits,
        row_number() OVER (
            PARTITION BY model, dtype, "partition", subject_popularity IS NULL
            ORDER BY subject_popularity DESC, relation, question_id, context_id
        ) AS by_views,
        least(100, ceil(count(*) OVER (PARTITION BY model, dtype, "partition") / 10)) AS marked
    FROM instances
)
SELECT
    model, dtype, "partition", relation, question_id, context_id, condition, edits, subject_popularity,
    semantic_entropy_without, semantic_entropy_with, coherent_persuasion,
    outcome, persuaded_as_published, stubborn_as_published,
    "partition" = 'temporal' AND edits IS NOT NULL AND by_edits <= marked AS most_edited,
    "partition" = 'temporal' AND subject_popularity IS NOT NULL AND by_views <= marked AS most_viewed
FROM ranked
ORDER BY model, dtype, "partition", relation, question_id, context_id
