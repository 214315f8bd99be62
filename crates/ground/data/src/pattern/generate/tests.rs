//! Every generator: small patterns edge by edge, larger ones by formula.

use super::*;

fn pairs(spec: &str) -> Vec<(usize, usize)> {
    let pattern = generate(spec).unwrap();
    pattern.check().unwrap();
    pattern.edges.iter().map(|edge| (edge.from, edge.to)).collect()
}

#[test]
fn small_patterns_have_expected_edges() {
    let edges = [
        "ring:3",
        "ring:3:bidirectional",
        "pipeline:3",
        "pairs:4",
        "master-worker:3",
        "binomial-tree:6",
        "butterfly:4",
        "recursive-doubling:3",
        "stencil2d:2x2",
        "clusters:2x2",
        "idle:5",
        "ring:1",
    ]
    .map(|spec| format!("{spec} {:?}", pairs(spec)));
    insta::assert_snapshot!(edges.join("\n"), @"
    ring:3 [(0, 1), (1, 2), (2, 0)]
    ring:3:bidirectional [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    pipeline:3 [(0, 1), (1, 2)]
    pairs:4 [(0, 1), (1, 0), (2, 3), (3, 2)]
    master-worker:3 [(0, 1), (0, 2), (1, 0), (2, 0)]
    binomial-tree:6 [(0, 1), (0, 2), (0, 4), (2, 3), (4, 5)]
    butterfly:4 [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 3), (3, 1), (3, 2)]
    recursive-doubling:3 [(0, 1), (1, 0), (1, 2), (2, 1)]
    stencil2d:2x2 [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 3), (3, 1), (3, 2)]
    clusters:2x2 [(0, 1), (1, 0), (2, 3), (3, 2)]
    idle:5 []
    ring:1 []
    ");
}

#[test]
fn edge_counts_match_formulas() {
    for n in [1, 2, 5, 8, 33, 64] {
        assert_eq!(pairs(&format!("all-to-all:{n}")).len(), n * (n - 1));
        assert_eq!(pairs(&format!("binomial-tree:{n}")).len(), n - 1);
        assert_eq!(pairs(&format!("stencil3d:{n}x2x3")).len(), 2 * ((n - 1) * 6 + n * 3 + n * 4));
    }
    assert_eq!(pairs("stencil2d:4x5:periodic").len(), 4 * 20);
    let degrees = pairs("random:50:7:3");
    assert_eq!(degrees.len(), 350);
    assert_eq!(degrees, pairs("random:50:7:3"));
    assert_ne!(degrees, pairs("random:50:7:4"));
}

#[test]
fn every_listed_generator_works() {
    for (form, _) in GENERATORS {
        let spec = form
            .replace("AxB", "2x3")
            .replace("2x3xC", "2x3x2")
            .replace("KxM", "2x3")
            .replace(":N", ":8");
        let spec = spec.replace(":DEGREE:SEED", ":2:1").split('[').next().unwrap().to_owned();
        assert!(generate(&spec).is_ok(), "{spec}");
    }
}

#[test]
fn invalid_spec_error_explains_the_syntax() {
    let refused = [
        "rings:3",
        "ring",
        "pairs:3",
        "butterfly:12",
        "all-to-all:1000000",
        "stencil2d:4",
        "stencil3d:9999999x9999999x9999999",
        "random:4:4:1",
        "pairs:4:periodic",
        "ring:0",
    ]
    .map(|spec| generate(spec).unwrap_err().to_string());
    insta::assert_snapshot!(refused.join("\n"), @"
    unknown pattern 'rings'; expected one of: ring:N[:bidirectional], pipeline:N, pairs:N, master-worker:N, binomial-tree:N, recursive-doubling:N, butterfly:N, stencil2d:AxB[:periodic], stencil3d:AxBxC[:periodic], all-to-all:N, clusters:KxM, random:N:DEGREE:SEED, idle:N
    'ring': a number is missing; write ring:N[:bidirectional]
    'pairs:3': 3 tasks cannot be paired (N must be even); write pairs:N
    'butterfly:12': 12 is not a power of two; write butterfly:N
    'all-to-all:1000000': 999999000000 edges are too many; the limit is 8388608; write all-to-all:N
    'stencil2d:4': expected 2 numbers joined by x; write stencil2d:AxB[:periodic]
    'stencil3d:9999999x9999999x9999999': a pattern has 1 to 1048576 tasks, not 9999999; write stencil3d:AxBxC[:periodic]
    'random:4:4:1': with 4 tasks, each has fewer than 4 others; write random:N:DEGREE:SEED
    'pairs:4:periodic': unexpected 'periodic'; write pairs:N
    'ring:0': a pattern has 1 to 1048576 tasks, not 0; write ring:N[:bidirectional]
    ");
}
