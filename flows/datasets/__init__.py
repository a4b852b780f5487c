"""Judge, export and publish the data of a study."""
