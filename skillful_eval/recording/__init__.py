"""Recording what an endpoint answers, and answering from a recording.

A recording is one JSON document: for each fixture the ``task`` text that was sent and its ``responses``, each
with ``model``, ``answers``, ``usage``, the ``repeat`` that it answered and the ``candidates`` that were
offered. While it is being made, the responses are in a journal beside it, one line each.

What is private is taken out before anything is written, so two tasks may become the same text. They are not
confused: a text that shows a mark, or stands for a prompt that was withheld, belongs to its fixture alone,
while a whole text answers for every fixture that has it. What cannot be seen is a fixture whose prompt was
changed, between recording and replay, in nothing but what was taken out. A fixture whose id is private
itself stands under a digest of it.
"""
