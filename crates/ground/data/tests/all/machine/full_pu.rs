//! A complete PU, for the formats with PUs.

use seatmap_data::machine::{CoreKind, Pu};

/// A PU with every part. No `..Default`: a new field must be added here, and so to the schemas.
pub fn full_pu(os: u32, kind: CoreKind) -> Pu {
    Pu {
        os,
        core: Some(os),
        smt: Some(0),
        l2: Some(os),
        l3: Some(0),
        die: Some(0),
        numa: Some(0),
        memory: Some(1),
        package: Some(0),
        kind: Some(kind),
        cluster: Some(0),
        book: Some(0),
        drawer: Some(0),
        l1d_bytes: Some(48 << 10),
        l1i_bytes: Some(32 << 10),
        l2_bytes: Some(1 << 20),
        l3_bytes: Some(32 << 20),
        priority: Some(196),
        core_type: Some(0x4100_d850),
        capacity: Some(1024),
        base_khz: Some(2_000_000),
        max_khz: Some(3_900_000),
    }
}
