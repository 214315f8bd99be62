//! Text from a plan, in comments.

use crate::plan::Plan;
use crate::statistics::words::counted;

/// Text that stays on its line. A backslash is escaped too: systemd continues a line that ends with
/// one.
pub fn one_line(text: &str) -> String {
    // A newline would end the comment, and the rest of a name would run as a command.
    crate::document::visible(&text.replace('\\', r"\\"))
}

/// `# Seatmap plan: 4 tasks of ring:4 on desk.`
pub fn header(plan: &Plan) -> String {
    let tasks = counted(plan.placement.len(), "task");
    let of = plan.pattern.as_ref().map(|pattern| format!(" of {pattern}")).unwrap_or_default();
    format!("# Seatmap plan: {}.\n", one_line(&format!("{tasks}{of} on {}", plan.machine)))
}

/// A comment after a task's line; empty if it has no name.
pub fn name(plan: &Plan, task: usize) -> String {
    let name = plan.names.get(task).filter(|name| !name.is_empty());
    name.map(|name| format!(" # {}", one_line(name))).unwrap_or_default()
}
