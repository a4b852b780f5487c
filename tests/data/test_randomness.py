import pytest

from swaymeter.data.digests import content_key
from swaymeter.data.randomness import drawn_first, generator

NAMES = [f"entity {number}" for number in range(60)]
SEED = 7


@pytest.mark.parametrize(
    "changed", [{"seed": 2}, {"dtype": "bfloat16"}, {"texts": ["b", "a"]}, {"texts": ["ab"]}, {"more": None}]
)
def test_key_depends_on_every_input(changed: dict[str, object]) -> None:
    inputs: dict[str, object] = {"seed": 1, "dtype": "float32", "texts": ["a", "b"]}
    assert content_key(inputs) == content_key(dict(reversed(inputs.items())))
    assert content_key(inputs) != content_key({**inputs, **changed})


def test_nan_in_a_key_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        content_key({"threshold": float("nan")})


def test_a_generator_depends_on_seed_and_identity_alone() -> None:
    first = generator(3, "capital", "Norway").random(4)
    generator(3, "capital", "Peru").random(100)
    assert (generator(3, "capital", "Norway").random(4) == first).all()
    assert (generator(4, "capital", "Norway").random(4) != first).all()
    assert (generator(3, "capital", "Peru").random(4) != first).all()


def test_a_draw_depends_on_seed_and_identity() -> None:
    drawn = drawn_first(NAMES, 10, SEED, "capital")
    assert drawn_first(NAMES[::-1], 10, SEED, "capital") == drawn
    assert drawn_first(NAMES, 20, SEED, "capital")[:10] == drawn
    assert drawn_first(NAMES, 10, SEED + 1, "capital") != drawn
    assert drawn_first(NAMES, 10, SEED, "father") != drawn
    assert sorted(drawn_first(NAMES, 1000, SEED)) == sorted(NAMES)


def test_added_name_keeps_the_order_of_others() -> None:
    before = drawn_first(NAMES, 10, SEED, "capital")
    for new in ("newcomer", "another", "a third"):
        after = drawn_first([*NAMES, new], 10, SEED, "capital")
        others = [name for name in after if name != new]
        assert others == before[: 9 if new in after else 10]
