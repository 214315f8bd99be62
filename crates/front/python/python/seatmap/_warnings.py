"""The category of the remarks that the command line prints on stderr."""


class SeatmapWarning(UserWarning):
    """Something to know of an answer: it is right, and not all of the question."""
