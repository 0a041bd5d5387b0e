"""Desk: is memory right, relevant and in time where programmers work with agents?"""
