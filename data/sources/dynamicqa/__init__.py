"""The published DynamicQA: its three files read, judged by their rules, and written."""

from swaymeter.data.sources.dynamicqa.layout import FILES
from swaymeter.data.sources.dynamicqa.published import LICENCE, SOURCE, downloaded, questions, questions_of

__all__ = ["FILES", "LICENCE", "SOURCE", "downloaded", "questions", "questions_of"]
