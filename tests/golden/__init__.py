"""Every text that a model reads, in files that a reviewer reads in one sitting. `--write-golden` writes them again."""
