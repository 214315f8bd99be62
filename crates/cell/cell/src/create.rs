//! Creates a cell: chooses a backend, closes the cell and tests it.

use crate::posted::TAKE_MEMORY;
use crate::site::Site;
use crate::{
    CellBackend, CellClaim, CellError, CellHost, CellJournal, CellJournalHeader, CellRecord,
    CellState, GuardedHost, JournalEntry, Name, census, hygiene, memory, partition, posted, record,
};
use seatmap_data::words::agreeing;
use seatmap_os::guardian::Guardian;
use seatmap_os::layout::CpusetMounts;
use seatmap_os::{CpuList, CpuSet, FileError, boot, group, isolated, layout, rights, task};

/// Measures the percentage of time stolen from a busy loop on these CPUs, on a thread that may use
/// them.
pub type NoiseJudge<'a> =
    dyn FnMut(&CpuList) -> Result<f64, Box<dyn std::error::Error + Send + Sync>> + 'a;

/// A request for a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellRequest {
    /// Its name.
    pub name: Name,
    /// Its CPUs.
    pub cpus: CpuSet,
    /// The lowest acceptable level.
    pub require: CellBackend,
    /// Most stolen time allowed, in percent.
    pub noise_limit: Option<f64>,
    /// Its lease in seconds; none if it lasts until destroyed.
    pub lease_s: Option<u64>,
    /// Its memory in bytes; 0 for none.
    pub memory_bytes: u64,
}

/// Creates a cell, or leaves everything unchanged.
///
/// # Errors
/// [`CellError`].
pub fn create(
    host: &CellHost,
    request: &CellRequest,
    mut judge: Option<&mut NoiseJudge<'_>>,
) -> Result<CellRecord, CellError> {
    let _lock = host.run.lock()?;
    host.recover()?;
    let rest = check(host, request)?;
    memory::check(&host.root, request.memory_bytes).map_err(CellError::Memory)?;
    // This process may lack these CPUs.
    let noise_before = judge.as_mut().and_then(|judge| judge(&request.cpus.list()).ok());
    let mut posted = posted::post(&host.keeper, &request.name)?;
    let made = build(host, request, &rest, &mut posted).and_then(|mut record| {
        record.noise_before = noise_before;
        record.noise_after =
            judge.map(|judge| accept(host, &record, request.noise_limit, judge)).transpose()?;
        finish(host, &record)?;
        Ok(record)
    });
    let left = match &made {
        Ok(_) => Vec::new(),
        Err(_) => host.end(&request.name)?,
    };
    // Report only the error, not a guardian that stays for masks.
    drop(posted::dismiss(posted, left));
    made
}

pub(crate) fn check(host: &CellHost, request: &CellRequest) -> Result<CpuSet, CellError> {
    let online = layout::online(&host.root)?;
    let missing = request.cpus.without(&online);
    if !missing.is_empty() {
        return Err(CellError::NotOnline { missing, online });
    }
    let cells = host.cells()?;
    if cells.iter().any(|cell| cell.name == request.name) {
        return Err(CellError::NameTaken(request.name.clone()));
    }
    for cell in &cells {
        let cpus = cell.set().within(&request.cpus);
        if !cpus.is_empty() {
            return Err(CellError::Taken(format!(
                "{} {} to the cell '{}'",
                cpus.named(),
                agreeing(cpus.len(), "belongs", "belong"),
                cell.name
            )));
        }
    }
    let foreign = host.foreign();
    let conflict = foreign
        .iter()
        .find(|claim| claim.header.cell == request.name || claim.header.set().meets(&request.cpus));
    if let Some(claim) = conflict {
        return Err(CellError::of_claim(claim));
    }
    let sets = cells.iter().map(CellRecord::set);
    let sets = sets.chain(foreign.iter().map(|claim| claim.header.set()));
    let rest = sets.fold(online.without(&request.cpus), |rest, taken| rest.without(&taken));
    // The kernel places no thread on an isolated CPU by itself.
    if rest.is_subset(&isolated::beside_others(&host.root)) {
        return Err(CellError::NothingLeft(request.cpus.clone()));
    }
    Ok(rest)
}

fn build(
    host: &CellHost,
    request: &CellRequest,
    rest: &CpuSet,
    posted: &mut Guardian,
) -> Result<CellRecord, CellError> {
    let spared = vec![task::own_pid(), posted.pid()];
    let layout = CpusetMounts::read(&host.root);
    let mut degraded = Vec::new();
    for backend in CellBackend::ALL.into_iter().filter(|backend| *backend >= request.require) {
        if let Err(error) = partition::offers(backend, &layout) {
            degraded.push(format!("{backend}: {}", cause(&error)));
            continue;
        }
        let mut journal = begin(host, request)?;
        let cell = request.cpus.clone();
        let mut site = Site {
            root: &host.root,
            journal: &mut journal,
            cell,
            rest: rest.clone(),
            spared: spared.clone(),
        };
        match partition::close(&mut site, backend, &layout) {
            Ok(group) => {
                if let Some(group) = &group {
                    census::mark(&host.root, group, &host.run.journal(&request.name));
                }
                return furnish(host, request, &mut site, posted, backend, group, degraded);
            }
            Err(error) => degraded.push(format!("{backend}: {}", cause(&error))),
        }
        // A failed backend must not affect the next.
        host.dismantle(&request.name)?;
    }
    Err(CellError::NotReached { level: request.require, reasons: degraded })
}

fn begin(host: &CellHost, request: &CellRequest) -> Result<CellJournal, CellError> {
    let began_ticks = Some(boot::ticks());
    let header =
        CellJournalHeader::new(&request.name, &request.cpus, host.next_serial()?, began_ticks);
    let journal = CellJournal::begin(&host.run.journal(&request.name), &host.boot_id, header)?;
    CellClaim::of(&journal).write(&host.root);
    Ok(journal)
}

fn cause(error: &partition::ClosingError) -> String {
    let cause = std::error::Error::source(error);
    let denied = cause.and_then(|cause| cause.downcast_ref::<std::io::Error>());
    let way_out = denied.map(rights::way_out).unwrap_or_default();
    let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}{way_out}")
}

fn furnish(
    host: &CellHost,
    request: &CellRequest,
    site: &mut Site,
    posted: &mut Guardian,
    backend: CellBackend,
    group: Option<String>,
    degraded: Vec<String>,
) -> Result<CellRecord, CellError> {
    let irqs_left = hygiene::keep(site)?;
    let memory = match request.memory_bytes {
        0 => None,
        bytes => Some(memory::prepare(site, bytes)?),
    };
    let found = census::stragglers(&host.root, &site.cell, &site.spared)?;
    let record = CellRecord {
        format: record::FORMAT.to_owned(),
        name: request.name.clone(),
        cpus: request.cpus.iter().collect(),
        backend,
        degraded,
        noise_before: None,
        noise_after: None,
        state: CellState::Ready,
        group,
        irqs_left,
        kernel_threads_left: found.bound,
        threads_left: found.free.len(),
        processes_left: found.processes(&host.root),
        memory,
        expires_s: request.lease_s.map(|lease| boot::seconds().saturating_add(lease)),
    };
    with_memory(host, record, posted)
}

/// Huge pages, or else ordinary ones.
fn with_memory(
    host: &CellHost,
    mut record: CellRecord,
    posted: &mut Guardian,
) -> Result<CellRecord, CellError> {
    let Some(memory) = record.memory.clone() else { return Ok(record) };
    for is_huge in [true, false].into_iter().filter(|is_huge| !is_huge || memory.is_huge) {
        record.memory = Some(memory::CellMemory { is_huge, ..memory.clone() });
        host.run.remember(&record)?;
        if posted.request(TAKE_MEMORY) {
            record.memory = host.run.record(&record.name).and_then(|record| record.memory);
            return Ok(record);
        }
    }
    let why = "the kernel refused; check the limit of locked memory ('ulimit -l') and the free \
               memory ('free')";
    Err(CellError::Memory(std::io::Error::other(why)))
}

/// Runs inside the cell.
fn accept(
    host: &CellHost,
    record: &CellRecord,
    limit: Option<f64>,
    judge: &mut NoiseJudge,
) -> Result<f64, CellError> {
    let group = record.group.as_deref();
    let home = group.and_then(|group| group::of_self(&host.root, group));
    enter(host, group)?;
    let found = judge(&CpuList(record.cpus.clone())).map_err(CellError::NoiseJudge);
    enter(host, home.as_deref())?;
    match (found?, limit) {
        (found, Some(limit)) if found > limit => Err(CellError::TooNoisy { found, limit }),
        (found, _) => Ok(found),
    }
}

fn enter(host: &CellHost, group: Option<&str>) -> Result<(), FileError> {
    let Some(group) = group else { return Ok(()) };
    let own = std::process::id().to_string();
    host.root.write(&group::members_file(&host.root, group), &own)
}

fn finish(host: &CellHost, record: &CellRecord) -> Result<(), CellError> {
    host.run.remember(record)?;
    let (own, others): (Vec<CellJournal>, Vec<CellJournal>) =
        host.journals()?.into_iter().partition(|journal| journal.header.cell == record.name);
    let Some(mut journal) = own.into_iter().next() else { return Ok(()) };
    CellClaim::of(&journal).write(&host.root);
    journal.reserve(others.len() + host.foreign().len())?;
    Ok(journal.append(&[JournalEntry::Done])?)
}
