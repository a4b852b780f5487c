"""What steps do: functions of a step and a run, each of which opens what it needs and writes what the step makes."""
