//! The trace (`SEATMAP_SPE_TRACE=FILE`) and summary (`SEATMAP_SPE_SUMMARY=yes`) at the end of a
//! run.

use crate::simulated::request::{Driver, DriverRequest, DriverSlot, Request};
use seatmap_cell_sim::session::{CellBeSession, Spent};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// How long an ending process waits for the driver, which may be in an endless SPU program.
const WAITS: Duration = Duration::from_secs(5);

/// The environment's requests.
#[derive(Debug)]
pub struct Wishes {
    trace: Option<(String, File)>,
    wants_summary: bool,
    began: Instant,
}

static WISHES: OnceLock<Mutex<Wishes>> = OnceLock::new();
static DRIVER: OnceLock<Arc<Driver>> = OnceLock::new();
static IS_DONE: AtomicBool = AtomicBool::new(false);

impl Wishes {
    /// Reads the environment, and creates the trace's file.
    ///
    /// # Errors
    /// A message: the file cannot be written, or a value is invalid.
    pub fn read() -> Result<Self, String> {
        let trace = match std::env::var("SEATMAP_SPE_TRACE") {
            Ok(name) if !name.is_empty() => {
                let made = seatmap_os::whole_file::create(Path::new(&name));
                let file = made.map_err(|error| format!("SEATMAP_SPE_TRACE={name}: {error}"))?;
                Some((name, file))
            }
            _ => None,
        };
        let wants_summary = match std::env::var("SEATMAP_SPE_SUMMARY").as_deref() {
            Err(_) | Ok("" | "no") => false,
            Ok("yes") => true,
            Ok(other) => return Err(format!("SEATMAP_SPE_SUMMARY={other}: expected yes or no")),
        };
        Ok(Wishes { trace, wants_summary, began: Instant::now() })
    }

    /// Whether a trace is requested.
    pub fn wants_trace(&self) -> bool {
        self.trace.is_some()
    }
}

/// Registers the output for the process's end.
pub fn at_end(driver: &Arc<Driver>, wishes: Wishes) {
    if WISHES.set(Mutex::new(wishes)).is_ok() && DRIVER.set(Arc::clone(driver)).is_ok() {
        // SAFETY: the function exists as long as the library, which programs do not unload.
        unsafe { libc::atexit(on_exit) };
    }
}

/// Runs at the process's end, and lets the driver write.
extern "C" fn on_exit() {
    let Some(driver) = DRIVER.get().filter(|_| !IS_DONE.load(Ordering::Acquire)) else { return };
    let (report, reports) = mpsc::channel();
    let desk = Arc::new(DriverSlot::default());
    // No task has this number.
    desk.task.store(u32::MAX, Ordering::Release);
    let ask = DriverRequest::Now(Box::new(move |session: &mut CellBeSession| {
        leave(session);
        _ = report.send(());
        0
    }));
    driver.send(Request { desk, worked_ns: 0, ask });
    if reports.recv_timeout(WAITS).is_err() {
        eprintln!("libspe2: neither trace nor summary: an SPU program does not stop");
    }
}

/// Writes the requested output, once.
pub fn leave(session: &mut CellBeSession) {
    let Some(wishes) = WISHES.get().filter(|_| !IS_DONE.swap(true, Ordering::AcqRel)) else {
        return;
    };
    let mut wishes = wishes.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((name, file)) = wishes.trace.take() {
        write_trace(session, &name, file);
    }
    if wishes.wants_summary {
        eprint!("{}", summary(session, wishes.began.elapsed()));
    }
}

/// Reports a bug of the simulator; there is no output.
pub fn give_up() {
    eprintln!("libspe2: the simulated Cell has a defect; the line above says which");
    IS_DONE.store(true, Ordering::Release);
}

fn write_trace(session: &mut CellBeSession, name: &str, file: File) {
    let Some(trace) = session.take_trace() else { return };
    if trace.is_full() {
        eprintln!("libspe2: the trace '{name}' is full; it has only the start of the run");
    }
    let mut to = BufWriter::new(file);
    if let Err(error) = trace.write(&mut to).and_then(|()| to.flush()) {
        eprintln!("libspe2: cannot write the trace '{name}': {error}");
    }
}

fn summary(session: &CellBeSession, took: Duration) -> String {
    let model = session.model();
    let counters = session.counters();
    let mut text = format!("libspe2: {}, {:.0} ns\n", model.name, session.now_ns());
    text += "  SPE  runs";
    Spent::ALL.iter().for_each(|sort| _ = write!(text, " {:>12}", format!("{} ns", sort.name())));
    text += "  commands    bytes got    bytes put\n";
    for (spe, account) in
        session.accounts().iter().enumerate().filter(|(_, account)| account.runs > 0)
    {
        _ = write!(text, "  {spe:>3} {:>5}", account.runs);
        account
            .cycles
            .iter()
            .for_each(|cycles| _ = write!(text, " {:>12.0}", *cycles as f64 / model.frequency_ghz));
        _ = writeln!(
            text,
            " {:>9} {:>12} {:>12}",
            account.commands, account.got_bytes, account.put_bytes
        );
    }
    for (chip, counts) in counters.chips.iter().enumerate() {
        _ = writeln!(
            text,
            "  memory {chip}: {} lines read, {} written, {} refused; data rings: {} transfers",
            counts.memory_reads,
            counts.memory_writes,
            counts.memory_retries,
            counts.ring_grants.iter().sum::<u64>()
        );
    }
    _ = writeln!(
        text,
        "  {} commands on the bus, {} behind another one to their line; {} lost reservations; {} \
         full queues",
        counters.commands,
        counters.same_line_commands,
        counters.lost_reservations,
        counters.mfc_full
    );
    let seconds = took.as_secs_f64().max(1e-9);
    let rate = session.events() as f64 / seconds / 1e6;
    _ = writeln!(text, "  {} events in {seconds:.2} s here: {rate:.1} M/s", session.events());
    text
}
