"""What can go wrong. Whatever stackrank raises by intention is in this tree.

    StackrankError
      UsageError              what was asked for cannot be done; a command ends with status 2
        SettingsError         a variable of the environment
        SpecError             the specification of a run, or the flags in its place
        BenchmarkError        the data of a benchmark
        SetupError            an agent, as it is configured
          AccessError         the model's endpoint refuses the key, or does not know the model
        TrainingError         an environment in a trainer's hands
        NotFound              what was asked for is not in the database
        DecisionRefused       a decision about a proposed fix that cannot count
        NotComparable         what was asked for would put beside each other what cannot be compared
      InfrastructureError     a machine, a server or a network failed; a command ends with status 1
        NotReady              something is missing on this machine
        SandboxError          a sandbox
          MachineBusy         tests waited for a processor until their time was up
          BuildError          the environment that sandboxes start in
          CannotFork          the kernel does not let a factory fork them
        PreparationFailed     what an episode or its verdict needs, before anything of an agent's ran there
        McpServerFailed       an MCP server of an entrant's, before anything of the agent's ran
          McpServerChanged    it offers other tools than when the run began
        EndpointError         the model's endpoint
          EndpointDown        it answers nobody, or one of its models does not: their entrants wait
        DatabaseError         the database
        ForgeError            the forge that is to get a pull request
        ServerError           a service in the background
        WebhookError          the chat that is told about regressions
      GaveUp                  the agent does not go on, for whatever reason
      Malformed               what the agent said is no action
      BadCall                 a call of a tool cannot be read
      OutOfTime               the episode was over before the agent had decided
      Unclear                 what a person typed is no action
      ToolError               a tool was used wrongly, which the agent is told
      Refused                 a sandbox does not take or give a file
      Unmeasured              how hard a task is cannot be found out
      PatchError              a patch does not apply
      ContextTooLong          a conversation does not fit the model any more
      Failed                  a question to a model's endpoint got no answer
        Garbled               its answer cannot be read
      Rejected                a question of an entrant's own program is at fault itself, which the program is told
      ReplayDiffers           an episode that was cut off cannot be repeated
      ClaimLost               somebody else plays the episode now
      EpisodeFailed           an episode ended in `error`, which has been written down
      SandboxLost             what ran in a sandbox ended it
      DamagedChange           what was kept of an episode's work cannot be read
      CannotRescore           what was kept of an episode is not enough to score it again
      NotAllowed              a request that the proxy before a Docker engine refuses
        NoContainer           it is about a container that there is not
      BadReply                a sandbox answered what our guest does not
      GuestBug                a fault of ours, inside a sandbox

The last group is caught inside; a command that ends with one of them has a fault of ours. The program that runs inside
sandboxes may use nothing but the standard library, and has errors of its own. Which errors are retried is said in
`stackrank.flows.runs.error_policy`.
"""

from __future__ import annotations


class StackrankError(Exception):
    """Something that is expected to go wrong at times."""


class UsageError(StackrankError):
    """What was asked for cannot be done. The message is one sentence that names the input and the remedy."""


class InfrastructureError(StackrankError):
    """A machine, a server or a network failed, and no entrant is to blame. The message is one sentence with the remedy."""


class SettingsError(UsageError):
    """A variable `STACKRANK_...` has a value that it cannot have."""


class NotReady(InfrastructureError):
    """Something that this machine needs is missing."""
