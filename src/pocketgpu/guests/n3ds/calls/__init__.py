"""The supervisor calls, by topic. A call is a function with the arguments of its row in facts.supervisor."""
