"""The polite session through which every public service is requested, and the errors of requests."""
