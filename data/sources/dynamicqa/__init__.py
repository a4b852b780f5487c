"""The published DynamicQA: its three files read, judged by their rules, and written."""

from data.sources.dynamicqa.layout import FILES
from data.sources.dynamicqa.published import LICENCE, SOURCE, download, questions, questions_of

__all__ = ["FILES", "LICENCE", "SOURCE", "download", "questions", "questions_of"]
