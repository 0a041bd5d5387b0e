"""git: sub-commands that inspect, each with its options.

Repository configuration can make git run programs: see `repository`, which keeps it from git.
"""
