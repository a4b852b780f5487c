"""People judge questions: sheets for them, what they say brought back, and what follows from it."""
