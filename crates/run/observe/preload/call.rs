//! The MPI calls that move data.

macro_rules! calls {
    ($($call:ident)*) => {
        /// All variants of one operation, such as blocking ones, are one call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum MpiCall {
            $(#[doc = concat!("`MPI_", stringify!($call), "`.")] $call,)*
        }

        impl MpiCall {
            /// All calls, by number.
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
