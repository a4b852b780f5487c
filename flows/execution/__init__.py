"""Running the steps of a study, and the progress that is reported meanwhile. Nothing here knows of the terminal."""
