"""What was fetched, as one dataset with a version: its facts and questions, and what differs between two of them."""
