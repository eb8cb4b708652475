"""What each command does. The command line (`flows.cli`) imports these only when they are called."""
