"""Running a study's steps, and what is told of it meanwhile. Nothing here knows of the terminal."""
