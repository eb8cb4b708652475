"""The audit of a task's tests, which looks for wrong changes that pass.

`changes` generates candidates, and `guest` tests them inside a sandbox. `probes` generates inputs on which passing
candidates are compared with the fix. `audit` combines these.
"""
