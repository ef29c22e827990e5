"""Recording what an endpoint answers, and answering from a recording."""
