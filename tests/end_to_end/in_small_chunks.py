"""The command `swaymeter` with chunks of eight queries, so that a study that is over in seconds has several of them."""

from flows.cli.main import main
from tasks.measures import chunks

chunks.LEAST_QUERIES, chunks.LEAST_PROMPTS = 8, 1

if __name__ == "__main__":
    main()
