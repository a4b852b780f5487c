-- Krippendorff's alpha of people's judgements, by field, over texts that several people judged; NULL if undefined.
-- needs: agreement_of_annotators
SELECT field, items, array_to_string(annotators, ', ') AS annotators, alpha, undefined
FROM agreement_of_annotators
ORDER BY field
