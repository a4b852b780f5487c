from tasks.scoring.persuaded import ComparedAnswers, compare_answers


def test_answer_that_changes_to_the_contexts_is_persuaded() -> None:
    assert compare_answers("Oslo", "Lima", "Lima") == ComparedAnswers(
        persuaded=True, stubborn=False, context_correct=True, stubborn_released=False
    )


def test_answer_that_stays_is_stubborn() -> None:
    assert compare_answers("Oslo", "Oslo", "Lima") == ComparedAnswers(
        persuaded=False, stubborn=True, context_correct=False, stubborn_released=True
    )


def test_answer_that_was_the_contexts_already_is_neither_but_counts_as_released() -> None:
    assert compare_answers("Lima", "Lima", "Lima") == ComparedAnswers(
        persuaded=False, stubborn=False, context_correct=True, stubborn_released=False
    )


def test_answer_that_becomes_a_third_is_neither() -> None:
    assert compare_answers("Oslo", "Rome", "Lima") == ComparedAnswers(
        persuaded=False, stubborn=False, context_correct=False, stubborn_released=False
    )


def test_match_is_not_transitive_so_an_answer_may_be_both() -> None:
    found = compare_answers("Oslo the city", "the city Lima", "Lima")
    assert found.persuaded
    assert found.stubborn
    assert not found.stubborn_released


def test_two_empty_answers_do_not_stay_the_same() -> None:
    assert not compare_answers("", "", "Lima").stubborn
