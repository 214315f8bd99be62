//! Words kept in a document with the CPUs that they named, and whether they name others now.
//!
//! A boost switch, the mode of an X3D processor or an offline CPU moves words such as `fast:4`.

use super::{ComputerCpus, ReadComputer, SetError, all_of, is_set, terms};
use seatmap_data::document::with_causes;
use seatmap_data::plan::Plan;
use seatmap_data::words::joined;
use seatmap_os::CpuSet;

/// Words with the CPUs that they named when seats were chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptWords {
    /// The words, which name the same CPUs for every process.
    pub words: String,
    /// The CPUs then.
    pub then: CpuSet,
}

/// Words that name other CPUs now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedWords {
    /// The words, with their earlier CPUs.
    pub kept: KeptWords,
    /// Their present CPUs, or why they name none.
    pub now: Result<CpuSet, String>,
}

impl KeptWords {
    /// The words of a list of seats on a computer; `None` if it has CPUs by number alone.
    ///
    /// # Errors
    /// [`SetError`] for the first wrong member.
    pub fn of(list: &str, computer: ReadComputer) -> Result<Option<Self>, SetError> {
        if !list.split(',').any(|member| is_set(member.trim())) {
            return Ok(None);
        }
        let computer = computer().map_err(SetError::Member)?;
        let then = all_of(list, &computer)?;
        Ok(Some(KeptWords { words: for_every_process(list, &then, &computer), then }))
    }

    /// The words of a document with their CPUs as a list, if it has both.
    pub fn in_document(words: Option<&str>, within: Option<&str>) -> Option<Self> {
        Some(KeptWords { words: words?.to_owned(), then: CpuSet::of_list(within?)? })
    }

    /// The words of a plan, if it has some. Earlier versions kept no CPUs beside them.
    pub fn in_plan(plan: &Plan) -> Option<Self> {
        let words = plan.words.as_deref();
        KeptWords::in_document(words, plan.within.as_deref()).or_else(|| {
            let then = plan.pus_in_use().into_iter().collect();
            Some(KeptWords { words: words?.to_owned(), then })
        })
    }

    /// Adds the words to a plan.
    pub fn keep_in(&self, plan: &mut Plan) {
        plan.words = Some(self.words.clone());
        plan.within = Some(self.then.to_string());
    }

    /// Whether the words name other CPUs of this computer now.
    pub fn moved(&self, computer: &ComputerCpus) -> Option<MovedWords> {
        let now = all_of(&self.words, computer).map_err(|error| with_causes(&error));
        let is_same = now.as_ref().is_ok_and(|now| *now == self.then);
        (!is_same).then(|| MovedWords { kept: self.clone(), now })
    }
}

impl MovedWords {
    /// The change as a sentence without its full stop.
    pub fn sentence(&self) -> String {
        let KeptWords { words, then } = &self.kept;
        let now = match &self.now {
            Ok(now) => format!("names {} now", now.named()),
            Err(why) => format!("names none now ({why})"),
        };
        format!("'{words}' named {} when the seats were chosen, and {now}", then.named())
    }
}

/// Words that name these CPUs for a process that may use all CPUs, too.
fn for_every_process(list: &str, cpus: &CpuSet, computer: &ComputerCpus) -> String {
    let usable = computer.topology.os_indices().collect();
    let whole = ComputerCpus { usable, ..computer.clone() };
    if all_of(list, &whole).is_ok_and(|named| named == *cpus) {
        return list.to_owned();
    }
    let among = among(&computer.usual());
    let members = list.split(',').map(|member| {
        joined(terms(member.trim()).iter().map(|term| format!("{among}/{term}")), "+")
    });
    joined(members, ",")
}

/// CPUs that words after a `/` narrow.
pub fn among(cpus: &CpuSet) -> String {
    format!("cpus:{}", cpus.to_string().replace(',', "+"))
}
