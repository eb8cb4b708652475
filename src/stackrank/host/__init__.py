"""What stackrank uses of the machine that it runs on: programs, sockets to listen on, staying awake.

What a sandbox uses belongs in `env.sandbox`.
"""
