//! `seatmap machines`.

use crate::args::Machines;
use crate::error::CliError;
use crate::output;
use seatmap_machine::{Description, catalog};

/// Lists the bundled machines with what they are.
pub fn run(machines: &Machines) -> Result<(), CliError> {
    let described = |name| Description::from_toml(catalog::find(name)?).ok();
    let all: Vec<(&str, Description)> = catalog::names().filter_map(|name| Some((name, described(name)?))).collect();
    if machines.json {
        let entry = |(name, machine): &(&str, Description)| serde_json::json!({ "name": name, "pus": machine.shape().pus(), "summary": machine.summary(), "sources": machine.sources() });
        let list: Vec<_> = all.iter().map(entry).collect();
        return output::print(&format!("{:#}\n", serde_json::json!(list)));
    }
    let longest = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, machine): &(&str, Description)| {
        format!("{name:longest$}  {:>3} PUs  {}\n", machine.shape().pus(), machine.summary())
    };
    output::print(&all.iter().map(line).collect::<String>())
}
