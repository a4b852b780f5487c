"""Whether the models of a study can give what its measures need; said before anything runs."""

from data.errors import StudyFileError
from flows.study.study import Study
from tasks.models.backends import capabilities


def check_capabilities(study: Study) -> None:
    """Refuses a study that asks a model for what it cannot give.

    Raises:
        StudyFileError: names each model and each measure that do not go together.
    """
    wrong = []
    for model in dict.fromkeys(model.name for model in study.models):
        offered = capabilities(model)
        for name, measure in study.requested().items():
            if measure.capability is not None and measure.capability not in offered:
                wrong.append(
                    f"measure {name} needs {measure.capability}, which model {model} cannot give; leave out the "
                    "measure or ask another model"
                )
    if wrong:
        raise StudyFileError(f"study {study.name}: {'; '.join(wrong)}")
