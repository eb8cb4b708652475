"""The specification of a run, what is wrong with one, who may write what, and the plan. Pure: nothing is started."""
