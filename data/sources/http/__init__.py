"""The polite session that every public service is asked through, and what each thing that can go wrong means."""
