"""The embedded writer: a small language model on this machine, with no account and nothing to download at run time.

It writes short prose. 135 million parameters hold a story's opening in mind and little more, so what it writes is
cheap, often odd, and good for finding out what tamis does with many drafts; any larger model in a GGUF file can take
its place.
"""
