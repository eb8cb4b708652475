"""What an operator does to a run that exists: pause it, let it go on, retune it, retry an episode, cancel it.

Every act is a row in the database. The processes that play the run read it within seconds (`Session.follow`).
"""
