//! Port on pinned threads; the host's topology, clock and environment.
