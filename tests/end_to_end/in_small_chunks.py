"""The command `swaymeter` with chunks of eight queries or two questions: a study of seconds has several, too."""

from flows.cli import main
from tasks.measurement import answers, chunks

chunks.LEAST_QUERIES, chunks.LEAST_PROMPTS = 8, 1
answers.QUESTIONS_A_CHUNK["cpu"] = 2

if __name__ == "__main__":
    main()
