"""From a repository's open problems to proposals that a person decides about."""
