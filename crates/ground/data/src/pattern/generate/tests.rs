//! Every generator: small patterns edge by edge, larger ones by formula.

use super::*;

fn pairs(spec: &str) -> Vec<(usize, usize)> {
    let pattern = generate(spec).unwrap();
    pattern.check().unwrap();
    pattern.edges.iter().map(|edge| (edge.from, edge.to)).collect()
}

#[test]
fn small_patterns_have_expected_edges() {
    assert_eq!(pairs("ring:3"), [(0, 1), (1, 2), (2, 0)]);
    assert_eq!(pairs("ring:3:bidirectional").len(), 6);
    assert_eq!(pairs("pipeline:3"), [(0, 1), (1, 2)]);
    assert_eq!(pairs("pairs:4"), [(0, 1), (1, 0), (2, 3), (3, 2)]);
    assert_eq!(pairs("master-worker:3"), [(0, 1), (0, 2), (1, 0), (2, 0)]);
    assert_eq!(pairs("binomial-tree:6"), [(0, 1), (0, 2), (0, 4), (2, 3), (4, 5)]);
    assert_eq!(
        pairs("butterfly:4"),
        [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 3), (3, 1), (3, 2)]
    );
    assert_eq!(pairs("recursive-doubling:3"), [(0, 1), (1, 0), (1, 2), (2, 1)]);
    assert_eq!(pairs("stencil2d:2x2").len(), 8);
    assert_eq!(pairs("clusters:2x2"), [(0, 1), (1, 0), (2, 3), (3, 2)]);
    assert_eq!(pairs("idle:5"), []);
    assert_eq!(pairs("ring:1"), []);
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
    let refused = |spec: &str| generate(spec).unwrap_err().to_string();
    assert!(refused("rings:3").contains("unknown pattern 'rings'"));
    assert!(refused("ring").contains("write ring:N[:bidirectional]"));
    assert!(refused("pairs:3").contains("3 tasks cannot be paired"));
    assert!(refused("butterfly:12").contains("not a power of two"));
    assert!(refused("all-to-all:1000000").contains("edges"));
    assert!(refused("stencil2d:4").contains("2 numbers joined by x"));
    assert!(refused("stencil3d:9999999x9999999x9999999").contains("tasks"));
    assert!(refused("random:4:4:1").contains("fewer than 4 others"));
    assert!(refused("pairs:4:periodic").contains("unexpected 'periodic'"));
    assert!(refused("ring:0").contains("1 to"));
}
