"""An MCP server written by hand, which misbehaves on demand. It runs inside sandboxes: standard library only."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

MODE = os.environ.get("MODE", "")
VERSION = os.environ.get("VERSION", "1.2")
SCHEMA = {"type": "object", "properties": {"text": {"type": "string", "description": "Any text."}}}
NAMES = (
    *("echo", "where", "write", "fail", "refuse", "image", "nothing", "data", "ask", "hang", "die", "kill", "flood"),
    *("dribble", "long", "garbage", "wrong", "noise", "chatter", "orphan", "child", "change", "announce"),
    "stdin_closed",
    "clock",
    "debug",
)


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def tool(name):
    definition = {"name": name, "description": f"Does {name}.", "inputSchema": SCHEMA}
    if name == "write":
        definition["inputSchema"] = {
            **SCHEMA,
            "required": ["path"],
            "properties": {"path": {"type": ["string", "null"]}},
        }
    return definition


def listed():
    if MODE in ("none", "double", "wrong_schema", "wrong_list"):
        schema = {"type": "object", "properties": {"a": 1}}
        wrong = {"wrong_schema": [{**tool("echo"), "inputSchema": schema}], "wrong_list": [{"nom": "echo"}]}
        return {"none": [], "double": [tool("echo"), tool("echo")], **wrong}[MODE]
    if MODE == "many":
        return [{"name": f"t{number}", "inputSchema": {}} for number in range(10_001)]
    extra = [tool("more")] if MODE == "more" or Path("/tmp/changed").exists() else []
    return [tool(name) for name in NAMES if not (MODE == "less" and name == "die")] + extra


def text(content, **fields):
    return {"content": [{"type": "text", "text": content}], **fields}


def call(name, arguments, number):
    if name == "echo":
        return text(arguments.get("text", ""))
    if name == "where":
        return text(json.dumps({"cwd": str(Path.cwd()), "env": dict(os.environ), "python": sys.executable}))
    if name == "write":
        Path(arguments["path"]).write_text(arguments.get("text", ""))
        return text("written")
    if name == "fail":
        return text("it did not work", isError=True)
    if name == "refuse":
        send({"id": number, "error": {"code": -32602, "message": "no such thing"}})
        return None
    if name == "image":
        return {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}
    if name == "nothing":
        return {"content": []}
    if name == "data":
        return {"content": [], "structuredContent": {"answer": 42}}
    if name == "ask":
        send({"id": "a", "method": "ping"})
        send({"id": "b", "method": "sampling/createMessage", "params": {}})
        return text(json.dumps([receive(), receive()]))
    if name == "hang":
        time.sleep(1000)
    if name == "die":
        print("all is lost", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "kill":
        os.kill(os.getpid(), 9)
    if name == "flood":
        while True:
            print("x" * 1000, flush=True)
    if name == "dribble":  # never a line
        while True:
            sys.stdout.write("x" * 1000)
            sys.stdout.flush()
    if name == "long":
        return text("y" * 200_000)
    if name == "garbage":
        print("Hello, this is a print", flush=True)
        print('{"jsonrpc": "1.0"}', flush=True)
        sys.stdout.buffer.write(b"\xff\xfe\n")
        sys.stdout.flush()
        if arguments.get("text") == "only":
            time.sleep(1000)
        return text("and yet an answer")
    if name == "wrong":
        return {"content": "not a list"}
    if name == "noise":
        sys.stderr.write("e" * 3_000_000)
        return text("quiet now")
    if name == "chatter":
        while True:
            send({"method": "notifications/message", "params": {"level": "info", "data": "still at it"}})
            time.sleep(0.05)
    if name == "orphan":
        subprocess.Popen(["sh", "-c", "setsid sleep 997 & exit"])
        return text("left")
    if name == "child":
        subprocess.Popen(["sleep", "997"])
        return text("started")
    if name in ("change", "announce"):
        if name == "change":
            Path("/tmp/changed").touch()
        send({"method": "notifications/tools/list_changed"})
        return text("said so")
    if name == "stdin_closed":
        os.close(0)
        os.close(1)
        time.sleep(1000)
    if name == "clock":  # another answer each time, and with a path another workspace too
        if "path" in arguments:
            Path(arguments["path"]).write_text(f"{time.time_ns()}\n")
        return text(f"it is {time.time_ns()}")
    if name == "debug":
        return text("stopped", structuredContent={"debug_events": json.loads(arguments["text"])})
    raise SystemExit(f"unknown tool {name}")


def main():
    if MODE == "never":
        time.sleep(1000)
    if MODE == "dies":
        sys.exit("no module named nothing")
    if MODE == "garbage":
        print("Welcome to my server!", flush=True)
        time.sleep(1000)
    while True:
        message = receive()
        method, number = message.get("method"), message.get("id")
        if method and MODE == "asks":  # by whatever ids, and also by that of the request which it answers afterwards
            for own in (number, [number], {"number": number}, 0.5):
                send({"id": own, "method": "ping"})
        if method == "initialize":
            if MODE == "refuses":
                send({"id": number, "error": {"code": -32022, "message": "only newer ones"}})
                continue
            version = "1999-01-01" if MODE == "old" else message["params"]["protocolVersion"]
            info = {"name": "by-hand", "version": VERSION}
            send({"id": number, "result": {"protocolVersion": version, "capabilities": {}, "serverInfo": info}})
        elif method == "tools/list":
            tools = listed()
            cursor = int(message["params"].get("cursor", 0))
            if MODE == "pages" and cursor + 5 < len(tools):
                send({"id": number, "result": {"tools": tools[cursor : cursor + 5], "nextCursor": str(cursor + 5)}})
            else:
                send({"id": number, "result": {"tools": tools[cursor:]}})
        elif method == "tools/call":
            result = call(message["params"]["name"], message["params"]["arguments"], number)
            if result is not None:
                send({"id": number, "result": result})


main()
