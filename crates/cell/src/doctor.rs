//! What stands between a set of CPUs and quiet.
