//! A controller's cells and events as text.

use seatmap_controller::{CellPhase, Listed, Say};
use seatmap_report::cell::{faults, row};

/// A cell or waiting request in a controller's list.
pub fn listed(listed: &Listed) -> String {
    let phase = match listed.phase {
        CellPhase::Waiting => "waits",
        _ => "suspended: others have their turn",
    };
    let waits = format!("{}  {phase}\n", listed.name);
    listed.cell.as_ref().map_or(waits, row) + &faults(&listed.faults)
}

/// The lines for an event from a controller.
pub fn news(say: &Say) -> Vec<String> {
    match say {
        Say::Damaged { name, faults } if faults.is_empty() => {
            vec![format!("{name}: unchanged since creation")]
        }
        Say::Damaged { name, faults } => {
            faults.iter().map(|fault| format!("{name}: {fault}")).collect()
        }
        Say::Suspended { name } => vec![format!("{name}: its turn is over for now")],
        Say::Resumed { name } => vec![format!("{name}: its turn")],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_cell::CellRecord;

    fn cell() -> CellRecord {
        let text = r#"{"format": "seatmap-cell/1", "name": "quiet", "cpus": [2, 3], "backend": "affinity",
            "degraded": [], "noise_before": 9.0, "noise_after": 1.5,
            "state": "damaged", "group": null, "irqs_left": ["36"], "kernel_threads_left": 2, "threads_left": 1,
            "processes_left": ["1 init"], "memory": null, "expires_s": 0}"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn list_has_a_line_per_cell_and_request() {
        let standing = Listed {
            name: cell().name,
            phase: CellPhase::Standing,
            uid: None,
            cell: Some(cell()),
            faults: vec!["CPU 2 is offline".to_owned()],
        };
        let line = "quiet  CPUs 2,3  affinity  damaged  0 s left\n  fault: CPU 2 is offline\n";
        assert_eq!(listed(&standing), line);
        let phases = [CellPhase::Waiting, CellPhase::Suspended];
        let lines = phases.map(|phase| {
            listed(&Listed { phase, cell: None, faults: Vec::new(), ..standing.clone() })
        });
        assert_eq!(lines, ["quiet  waits\n", "quiet  suspended: others have their turn\n"]);
    }
}
