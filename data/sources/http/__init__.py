"""The polite session through which every public service is requested, and its errors."""
