//! The promises of every importer of patterns.

use seatmap_data::pattern::import::{self, Imported};
use seatmap_data::pattern::qaplib::Which;
use seatmap_data::pattern::{Edge, Pattern};

/// Imports, and checks what came out: sound, of real amounts, the same after a trip through its own
/// file, and through a list of edges.
pub fn import(bytes: &[u8], which: Option<Which>) {
    let Ok(Imported { pattern, .. }) = import::read(bytes, "fuzz", which) else { return };
    pattern.check().expect("an imported pattern holds together");
    let amounts = pattern.edges.iter().flat_map(|edge| [edge.bytes, edge.messages]);
    assert!(amounts.clone().all(|amount| (0.0..=1e18).contains(&amount)), "{:?}", amounts.collect::<Vec<_>>());
    assert_eq!(Pattern::from_json(&pattern.to_json()).expect("its own file is read"), pattern);
    if !pattern.edges.is_empty() {
        let row = |edge: &Edge| format!("{},{},{},{}\n", edge.from, edge.to, edge.bytes, edge.messages);
        let list = "from,to,bytes,messages\n".to_owned() + &pattern.edges.iter().map(row).collect::<String>();
        let again = import::read(list.as_bytes(), "again", None).expect("its list of edges is read").pattern;
        let sum = |pattern: &Pattern| pattern.edges.iter().map(|edge| edge.bytes).sum::<f64>();
        assert!((sum(&again) - sum(&pattern)).abs() <= 1e-9 * sum(&pattern));
    }
}
