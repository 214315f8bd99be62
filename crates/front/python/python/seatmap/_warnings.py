"""The category of the remarks that the command line prints on stderr."""


class SeatmapWarning(UserWarning):
    """A remark on a result, which is right but may not answer the whole question."""
