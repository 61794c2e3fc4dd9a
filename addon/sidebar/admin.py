"""What administrators see and do, across all spreadsheets."""

from collections.abc import Callable, Mapping

from addon.jobs.status import overview
from addon.llm.trial import Trial, try_model
from addon.models import set_price
from addon.sidebar import answers
from addon.sidebar.admin_card import admin_card
from addon.sidebar.text import Words
from addon.sidebar.visit import Visit
from addon.sidebar.widgets import Action, Json

TRIAL_SECONDS = 20.0
"""Longest a trial call of the model may take inside a click."""


class AdminsOnly(Exception):
    """The caller is no administrator."""


def admin_view(visit: Visit, notice: str = "") -> Json:
    """Build the administrators' card; raises `AdminsOnly` for everybody else."""
    if not visit.caller.admin:
        raise AdminsOnly
    services = visit.services
    jobs = overview(services.documents)
    return admin_card(visit.words, visit.links, jobs, services.documents.now(), services.model.name, notice)


def _admin(visit: Visit) -> Json:
    return answers.updated(admin_view(visit))


def _test_model(visit: Visit) -> Json:
    if not visit.caller.admin:
        raise AdminsOnly
    services = visit.services
    seconds = min(services.settings.model_timeout, TRIAL_SECONDS)
    trial = try_model(services.model, seconds, price=set_price(services.settings))
    said = _sentence(visit.words, trial)
    return answers.updated(admin_view(visit, said), said)


def _sentence(words: Words, trial: Trial) -> str:
    if trial.works:
        said = words("trial.text", seconds=f"{trial.seconds:.1f}")
        if trial.cost_per_1000 is None:
            return said
        return words(
            "list.sentences", first=said, second=words("trial.cost", cost=words.dollars(trial.cost_per_1000))
        )
    if trial.outcome == "fatal":
        return words.coded("reason", trial.reason)
    return words.coded("trial", trial.outcome)


HANDLERS: Mapping[Action, Callable[[Visit], Json]] = {"admin": _admin, "test-model": _test_model}
