"""Sandbox: what the system offers to keep a program from files and networks that are not its own.

bubblewrap or Landlock on Linux, sandbox-exec on macOS. `policy` says what a program may do,
`choose` finds what works here.
"""
