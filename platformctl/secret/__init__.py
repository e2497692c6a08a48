"""Secrets of a stack: made and encrypted here, committed by you, decrypted by Flux."""
