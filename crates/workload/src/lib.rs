//! Programs written once, generic over Port.
