"""The floors of the invented names."""

from data import catalog


def test_every_class_of_entities_has_twenty_invented_names() -> None:
    for entity_class in catalog.ENTITY_CLASSES:
        names = catalog.invented_entities(entity_class)
        assert len({name.casefold() for name in names}) == len(names) >= 20, entity_class
        assert all(name == name.strip() for name in names), entity_class


def test_no_invented_name_is_a_real_one_of_the_catalog() -> None:
    real = {name.casefold() for fact in catalog.facts() for name in (fact.subject, fact.object)}
    for question in catalog.questions():
        names = (question.subject, question.object, question.replacement, *question.answers)
        real |= {name.casefold() for name in names}
    assert not [
        name for c in catalog.ENTITY_CLASSES for name in catalog.invented_entities(c) if name.casefold() in real
    ]
