"""Sandbox: what the system offers to keep programs from files and networks that they do not need.

`policy` says what a program may do, `choose` finds what works on this machine.
"""
