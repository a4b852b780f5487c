from tasks.scoring.generation.prefixes import shared_prefixes


def test_what_many_prompts_begin_with_is_found() -> None:
    read, alone = [1, 2, 3, 4, 5, 6], [1, 2, 9, 9, 9]
    prompts = [[*read, 100 + n, 7] for n in range(20)] + [[*alone, 200 + n] for n in range(20)]
    assert shared_prefixes(prompts) == [tuple(alone), tuple(read)]


def test_prompts_that_share_nothing_have_none() -> None:
    assert shared_prefixes([[n, n + 1, n + 2, n + 3, n + 4] for n in range(50)]) == []
    assert shared_prefixes([[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]]) == []
    assert shared_prefixes([]) == []


def test_a_token_of_every_prompt_is_left_to_be_read() -> None:
    assert shared_prefixes([[1, 2, 3, 4, 5]] * 6) == [(1, 2, 3, 4)]


def test_a_beginning_that_few_prompts_have_is_not_worth_it() -> None:
    prompts = [[1, 2, 3, 4, 100 + n, 7] for n in range(60)] + [[1, 2, 3, 4, 5, 6, 7, n] for n in range(3)]
    assert shared_prefixes(prompts) == [(1, 2, 3, 4)]
