"""Stores: engines that keep facts."""
