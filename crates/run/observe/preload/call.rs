//! The calls that move data, by name.

macro_rules! calls {
    ($($call:ident)*) => {
        /// A call of MPI. Blocking and other variants of one operation are one call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum MpiCall {
            $(#[doc = concat!("`MPI_", stringify!($call), "`.")] $call,)*
        }

        impl MpiCall {
            /// All calls, in the order of their numbers.
            pub const ALL: &[MpiCall] = &[$(MpiCall::$call,)*];

            /// The name without `MPI_`.
            pub fn name(self) -> &'static str {
                match self {
                    $(MpiCall::$call => stringify!($call),)*
                }
            }
        }
    };
}

calls! {
    Send Sendrecv Start Bcast Reduce Allreduce Gather Scatter Allgather Alltoall ReduceScatter
    Scan Exscan Put Get Accumulate
}
