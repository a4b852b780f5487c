-- How far people agree on what several of them judged, by field: Krippendorff's alpha; NULL where it is not defined.
SELECT field, items, array_to_string(annotators, ', ') AS annotators, alpha, undefined
FROM agreement_of_annotators
ORDER BY field
