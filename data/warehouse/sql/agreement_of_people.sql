-- How far people agree, by field: Krippendorff's alpha over texts that several people judged; NULL if it is not
-- defined.
-- needs: agreement_of_annotators
SELECT field, items, array_to_string(annotators, ', ') AS annotators, alpha, undefined
FROM agreement_of_annotators
ORDER BY field
