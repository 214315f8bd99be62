"""Patterns: which tasks communicate, and how much."""

import os
from dataclasses import dataclass, field

from . import _seatmap
from ._page import frame, numpy, write_text


@dataclass(frozen=True)
class Pattern:
    """The traffic from each task of a program to the others.

    >>> import seatmap
    >>> ring = seatmap.pattern("ring:4")
    >>> ring.tasks, ring.edges[0]
    (4, (0, 1, 1.0))
    """

    name: str
    #: The number of tasks.
    tasks: int
    #: The names of the tasks, in order; empty if they have none.
    task_names: tuple
    _pattern: _seatmap.Pattern = field(repr=False, compare=False)

    @classmethod
    def _of(cls, pattern):
        return cls(pattern.name, pattern.tasks, tuple(pattern.task_names), pattern)

    @property
    def edges(self):
        """Sender, receiver and bytes of each edge."""
        return self._pattern.edges()

    @property
    def matrix(self):
        """The bytes from each task (row) to each other one (column), as a NumPy array."""
        matrix = numpy("a matrix").zeros((self.tasks, self.tasks))
        for sender, receiver, size in self.edges:
            matrix[sender, receiver] += size
        return matrix

    def to_json(self):
        """The pattern as JSON, in the file format of `seatmap`."""
        return self._pattern.json()

    def save(self, path):
        """Writes the pattern to a file, for ``seatmap place --pattern path``."""
        write_text(path, self.to_json())

    def to_html(self):
        """The page of 'seatmap pattern show --html', as a self-contained document."""
        return self._pattern.page()

    def __str__(self):
        return self._pattern.text()

    def _repr_html_(self):
        return frame(self.to_html())


def pattern(source, *, name="pattern", weight="weight"):
    """Makes a pattern from a generator, a file, a matrix or a graph.

    ``source`` is a generator's text (``"stencil2d:8x8"``), a file, a square matrix (NumPy, SciPy
    sparse, or lists) whose rows send to its columns, or a NetworkX graph. An edge's bytes are its
    attribute ``weight``, or 1. Undirected edges send in both directions.

    >>> import seatmap
    >>> seatmap.pattern([[0, 8], [2, 0]]).edges
    [(0, 1, 8.0), (1, 0, 2.0)]
    """
    if isinstance(source, Pattern):
        return source
    if isinstance(source, str) or hasattr(source, "__fspath__"):
        return Pattern._of(_seatmap.open_pattern(os.fspath(source)))
    if hasattr(source, "nodes") and hasattr(source, "edges"):
        return _of_graph(source, name, weight)
    if hasattr(source, "tocoo"):
        return _of_sparse(source, name)
    return _of_matrix(source, name)


def _of_edges(name, tasks, edges, names=()):
    # A task does not communicate with itself.
    edges = [edge for edge in edges if edge[0] != edge[1] and edge[2] != 0]
    return Pattern._of(_seatmap.pattern_of_edges(name, tasks, edges, list(names)))


def _of_graph(graph, name, weight):
    index = {node: at for at, node in enumerate(graph.nodes)}
    edges = []
    for sender, receiver, size in graph.edges(data=weight, default=1):
        pair = (index[sender], index[receiver])
        edges.append((*pair, float(size)))
        if not graph.is_directed():
            edges.append((*pair[::-1], float(size)))
    names = [str(node) for node in index]
    return _of_edges(getattr(graph, "name", "") or name, len(index), edges, names)


def _of_sparse(matrix, name):
    _check_square(matrix.shape)
    coo = matrix.tocoo()
    edges = zip(coo.row.tolist(), coo.col.tolist(), coo.data.astype(float).tolist())
    return _of_edges(name, matrix.shape[0], edges)


def _of_matrix(matrix, name):
    rows = matrix.tolist() if hasattr(matrix, "tolist") else matrix
    try:
        rows = [[float(size) for size in row] for row in rows]
    except (TypeError, ValueError):
        raise _seatmap.InputError(
            f"a pattern cannot be made of {type(matrix).__name__}; give a generator's text, a "
            "file, a square matrix of numbers, or a graph"
        ) from None
    _check_square((len(rows), *{len(row) for row in rows}))
    edges = [
        (sender, receiver, size)
        for sender, row in enumerate(rows)
        for receiver, size in enumerate(row)
    ]
    return _of_edges(name, len(rows), edges)


def _check_square(shape):
    if len(shape) != 2 or shape[0] != shape[1]:
        shape = " x ".join(str(size) for size in shape)
        raise _seatmap.InputError(f"a pattern needs a square matrix, not {shape}")
