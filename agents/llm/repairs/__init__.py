"""What servers and models write where the protocol asks for something else, and the one meaning that it has.

`json_object` reads the arguments of a call, `names` the name of its tool, `calls` compares both with the tool's schema;
`leaked_calls` finds calls that a server left in the text, `leaked_forms` reads their forms, `thoughts` tells reasoning
from text, and `pieces` joins a streamed message. What has exactly one meaning is taken, and a note says what was
repaired; anything else is refused with the reason. Sending requests does not belong here.
"""
