"""The terminal: how things look in it, and the door that is open while people work.

The command door (`cli`) shows things with the same functions.
"""
