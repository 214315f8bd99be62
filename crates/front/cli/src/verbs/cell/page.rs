//! Cells on the screen and as documents.

use seatmap_cell::undo::Left;
use seatmap_cell::{CellList, CellRecord, CellVerdict};
use seatmap_console::error::CliError;
use seatmap_console::output;
use seatmap_report::cell as words;

/// Shows the changes that could not be restored. Exit code 1 if there are any.
pub fn left(left: &[Left]) -> Result<(), CliError> {
    output::tell_each(left);
    match left.len() {
        0 => Ok(()),
        count => {
            Err(CliError::work(format!("{count} of the cell's changes could not be restored")))
        }
    }
}

pub fn cell(record: &CellRecord, wrong: &[String], json: bool) -> Result<(), CliError> {
    if json {
        output::json(record)
    } else {
        output::print(&(words::text(record) + &words::faults(wrong)))
    }
}

pub fn cells(records: &[CellRecord], json: bool) -> Result<(), CliError> {
    if json {
        output::json(&CellList::of(records))
    } else {
        output::print(&records.iter().map(words::row).collect::<String>())
    }
}

/// Shows whether a cell is as it was created. Exit code 1 if it is not.
pub fn verdict(record: &CellRecord, faults: &[String], json: bool) -> Result<(), CliError> {
    output::even_unread(if json {
        output::json(&CellVerdict { record, faults })
    } else {
        output::print(&words::verdict(record, faults))
    })?;
    words::damage(record, faults).map_or(Ok(()), |damage| Err(CliError::work(damage)))
}
