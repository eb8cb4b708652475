"""What can go wrong. Every error that stackrank raises on purpose is in this tree.

    StackrankError
      UsageError              the request cannot be carried out; a command ends with status 2
        SettingsError         a variable of the environment
        SpecError             the specification of a run, or the flags that replace it
        BenchmarkError        the data of a benchmark
          GitError            a git repository
          UnfinishedRun       the tests of a project do not end in their time
        SetupError            the configuration of an agent
          AccessError         the model's endpoint rejects the key, or does not know the model
        TrainingError         a trainer's use of an environment
          BranchError         an episode whose steps come out differently each time
        NotFound              the requested item is not in the database
        DecisionRefused       a decision about a proposed fix that is not valid
        NotComparable         a comparison of results that cannot be compared
      InfrastructureError     a machine, a server or a network failed; a command ends with status 1
        NotReady              something is missing on this machine
          PluginError       an installed plug-in that cannot be loaded, or has a bug
        SandboxError          a sandbox
          SandboxClosed       it was closed while it was in use
          MachineBusy         tests ran out of time while they waited for a processor
          BuildError          the environment that sandboxes start in
          CannotFork          the kernel does not let a factory fork sandboxes
        PreparationFailed     preparing a sandbox, before any code of an agent ran in it
        EndpointError         the model's endpoint
          EndpointDown        it, or one of its models, does not answer: the entrants that use it wait
        DatabaseError         the database
        ForgeError            the forge, such as GitHub
        ServerError           a background service
        WebhookError          the chat webhook that regressions are reported to
      GaveUp                  the agent stops, for any reason
      MalformedAction         the agent's output is not an action
      BadCall                 a tool call cannot be parsed
      OutOfTime               the episode's time ran out before the agent decided
      UnclearInput            a person's input is not an action
      Unclear                 a model's text is not JSON that can be read
      ToolError               a tool was used wrongly; the agent is told
      ToolServerFailed        an entrant's MCP server does not start
        ToolServerChanged     it offers different tools than when the run began
      NoMemory                files cannot be kept in memory, so the verdicts of a machine are not sealed
      Refused                 a sandbox refuses to read or write a file
      Unmeasured              the difficulty of a task cannot be measured
      PatchError              a patch does not apply
      ContextTooLong          a conversation no longer fits the model's context
      Failed                  a request to a model's endpoint got no proper answer
        Garbled               the answer cannot be read
      Rejected                a request from an entrant's own program is invalid; the program is told
      ReplayDiffers           an interrupted episode cannot be replayed
      StepsDiffer             a step comes out differently when it is repeated in a branch
      ClaimLost               another worker plays the episode now
      EpisodeFailed           an episode ended in `error`, and that has been stored
      SandboxLost             code that ran in a sandbox ended it
      DamagedChange           the stored change of an episode cannot be read
      CannotRescore           too little of an episode is stored to score it again
      NotAllowed              a request that the engine proxy refuses
        NoContainer           it is about a container that does not exist
      GuestBug                the program of stackrank inside a sandbox failed
        BadReply              a sandbox sent an answer that this program never sends

The last group (GaveUp and below) is caught internally; a command that ends with one of them reveals a bug of stackrank.
The program that runs inside sandboxes may use only the standard library, and has its own errors.
`stackrank.flows.runs.playing.error_policy` defines which errors are retried.
"""

from __future__ import annotations


class StackrankError(Exception):
    """An error that stackrank expects and raises on purpose."""


class UsageError(StackrankError):
    """The request cannot be carried out. The message is one sentence that names the input and the remedy."""


class InfrastructureError(StackrankError):
    """A machine, a server or a network failed; no entrant is to blame. The message is one sentence with the remedy."""


class SettingsError(UsageError):
    """A variable `STACKRANK_...` has an invalid value."""


class NotReady(InfrastructureError):
    """Something that this machine needs is missing."""


class PluginError(NotReady):
    """An installed plug-in cannot be loaded. The message names the plug-in, its package, the cause and the remedy."""
