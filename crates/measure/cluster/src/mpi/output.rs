//! Parses the program's output.

use super::{CollectiveTime, Mpi, MpiError, MpiPair};
use seatmap_data::document::json_problem;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Library { library: String },
    Pair(MpiPair),
    Collective(CollectiveTime),
    Error { error: String },
    End { end: bool },
}

/// Other lines, such as a launcher's, are ignored.
///
/// # Errors
/// [`MpiError`]: the output is incomplete, reports an error or contains impossible figures.
pub fn read(text: &str, nodes: usize) -> Result<Mpi, MpiError> {
    let mut mpi = Mpi { library: String::new(), pairs: Vec::new(), collectives: Vec::new() };
    let mut is_whole = false;
    for line in text.lines().filter(|line| line.starts_with('{')) {
        match seatmap_data::document::from_json(line)
            .map_err(|error| MpiError::Printed(json_problem(error)))?
        {
            Line::Library { library } => mpi.library = library,
            Line::Pair(pair) => mpi.pairs.push(pair),
            Line::Collective(one) => mpi.collectives.push(one),
            Line::Error { error } => return Err(MpiError::Apart(error)),
            Line::End { end } => is_whole = end,
        }
    }
    if !is_whole {
        return Err(MpiError::Printed("its output was cut off".to_owned()));
    }
    mpi.pairs.sort_by_key(|pair| pair.nodes);
    mpi.check(nodes).map_err(MpiError::Printed)?;
    Ok(mpi)
}

#[cfg(test)]
mod tests {
    use super::super::CollectiveOperation;
    use super::*;
    use proptest::prelude::*;

    const TRIP: &str = r#"{"size_bytes":8,"median_ns":900.0,"ci95_ns":[890.0,910.0],"p10_ns":850.0,"p90_ns":1000.0,"count":99}"#;

    fn printed() -> String {
        format!(
            "{{\"library\":\"Open MPI v4\"}}\nsome launcher says this\n\
             {{\"nodes\":[0,2],\"trips\":[{TRIP}],\"rate_mbps\":[9000.0,8000.0]}}\n\
             {{\"nodes\":[0,1],\"trips\":[{TRIP}],\"rate_mbps\":[9000.0,8000.0]}}\n\
             {{\"collective\":\"barrier\",\"size_bytes\":0,\"median_ns\":5.0,\"p10_ns\":4.0,\"p90_ns\":6.0,\"count\":7}}\n\
             {{\"end\":true}}\n"
        )
    }

    #[test]
    fn whole_output_is_read() {
        let mpi = read(&printed(), 3).unwrap();
        assert_eq!(
            (mpi.library.as_str(), mpi.pairs[0].nodes, mpi.pairs.len()),
            ("Open MPI v4", [0, 1], 2)
        );
        assert_eq!(mpi.collectives[0].operation, CollectiveOperation::Barrier);
    }

    #[test]
    fn damaged_output_is_refused() {
        let refused = |from: &str, to: &str| {
            read(&printed().replacen(from, to, 1), 3).unwrap_err().to_string()
        };
        assert!(refused("{\"end\":true}", "").contains("cut off"));
        assert!(refused("[0,2]", "[0,1]").contains("twice"));
        assert!(refused("[0,2]", "[0,3]").contains("not among 3 nodes"));
        assert!(refused("900.0", "-1.0").contains("not a positive number"));
        assert!(refused("barrier", "gossip").contains("cannot read"));
        let apart = refused("{\"library\":\"Open MPI v4\"}", "{\"error\":\"rank 0 is alone\"}");
        assert!(apart.contains("rank 0 is alone: this MPI is not the launcher's"), "{apart}");
    }

    proptest! {
        #[test]
        fn reader_survives_any_text(cut in 0..700_usize, with in "[{}\"a-z0-9:,\\[\\]]{0,40}") {
            let text = printed();
            let cut = text.floor_char_boundary(cut.min(text.len()));
            let _ = read(&format!("{}{with}{}", &text[..cut], &text[cut..]), 3);
        }
    }
}
