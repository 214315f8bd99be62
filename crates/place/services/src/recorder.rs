//! Records the load of services over time, and which of them talk to each other.
//!
//! Waiting times show the CPUs that a throttled service wanted. Processes that start and end within
//! one sample are only in `others_cpus`.

use crate::record::{CpuInterrupts, FORMAT, RecordedService, ServiceTalk};
use crate::{Service, ServicesFile, ServicesRecord, living};
use seatmap_data::document::{Failure, unfit, with_causes};
use seatmap_data::statistics::words::counted;
use seatmap_observe::subject::Subject;
use seatmap_observe::{Observation, ObservationEnd, ObservationSession, TracingMechanism};
use seatmap_os::cpu_time::CpuTimes;
use seatmap_os::interrupts::Interrupts;
use seatmap_os::pages::Pages;
use seatmap_os::sched::ThreadTimes;
use seatmap_os::task::{self, ThreadIdentity};
use seatmap_os::{CpuSet, Root, Tid, devices, layout};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Samples between updates of each service's processes.
const MEMBERS_EVERY: usize = 10;

const LEAST_SAMPLES: usize = 2;

/// Files of longer records are too large.
const MOST_SAMPLES: usize = 100_000;

/// The default interval between samples. The kernel's own counts have steps of 4 to 10 ms.
pub const INTERVAL: Duration = Duration::from_millis(100);

/// The reason for missing talk if it was not requested.
pub const NOT_ASKED: &str = "it was not asked for";

/// A request for a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordRequest {
    /// The services.
    pub file: ServicesFile,
    /// The length of the recording.
    pub time: Duration,
    /// The interval between samples.
    pub interval: Duration,
    /// Whether to observe which services talk to each other.
    pub sees_talk: bool,
    /// The name of this computer.
    pub machine: String,
    /// The present date and time.
    pub begun: String,
}

impl RecordRequest {
    /// Records until the time is over or `stop` returns true.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn run(
        &self,
        root: &Root,
        stop: &dyn Fn() -> bool,
        tell: &dyn Fn(usize, usize),
    ) -> Result<ServicesRecord, Failure> {
        let samples = self.samples()?;
        let mut recording = Recording::begin(self, root)?;
        let mut at = 0;
        while let Some(next) = self.next_sample(at, recording.begun.elapsed(), samples) {
            recording.has_gaps |= next > at + 1;
            at = next;
            recording.wait(self.interval * at as u32, stop);
            recording.sample(root);
            if recording.others_cpus.len().is_multiple_of(MEMBERS_EVERY) {
                recording.meters.iter_mut().for_each(|meter| meter.look_for_members(root));
            }
            tell(at.min(samples), samples);
            if stop() {
                break;
            }
        }
        if recording.others_cpus.is_empty() {
            return Err(Failure::work("interrupted before the first sample"));
        }
        Ok(recording.end(self, root))
    }

    /// `None` if the time is over. Missed samples are skipped, beyond the fewest that a record
    /// needs.
    fn next_sample(&self, at: usize, passed: Duration, samples: usize) -> Option<usize> {
        let due = (passed.as_secs_f64() / self.interval.as_secs_f64()).ceil() as usize;
        let next = due.max(at + 1);
        Some(next).filter(|next| *next <= samples || at < LEAST_SAMPLES)
    }

    fn samples(&self) -> Result<usize, Failure> {
        let samples = (self.time.as_secs_f64() / self.interval.as_secs_f64()).round() as usize;
        if (LEAST_SAMPLES..=MOST_SAMPLES).contains(&samples) {
            return Ok(samples);
        }
        unfit(format!(
            "recording {} with a sample every {} ms gives {}; 2 to 100000 are allowed",
            counted(self.time.as_secs(), "second"),
            self.interval.as_millis(),
            counted(samples, "sample")
        ))
    }
}

struct ServiceMeter {
    service: Service,
    near_node: Option<u32>,
    pids: BTreeSet<Tid>,
    first: BTreeSet<ThreadIdentity>,
    times: BTreeMap<ThreadIdentity, ThreadTimes>,
    used_cpus: Vec<f64>,
    waited_cpus: Vec<f64>,
    restarted: bool,
}

struct Recording {
    begun: Instant,
    sampled: Instant,
    meters: Vec<ServiceMeter>,
    cpu_times: CpuTimes,
    interrupts: Interrupts,
    others_cpus: Vec<f64>,
    session: Option<ObservationSession>,
    talk_unseen: Option<String>,
    has_gaps: bool,
}

impl Recording {
    fn begin(request: &RecordRequest, root: &Root) -> Result<Self, Failure> {
        let services = &request.file.services;
        let members = living::all(root, services)?;
        let meters = services.iter().zip(members);
        let mut meters = meters
            .map(|(service, pids)| ServiceMeter::begin(service.clone(), pids, root))
            .collect::<Result<Vec<_>, _>>()?;
        let pids = meters.iter().flat_map(|meter| meter.pids.iter().copied()).collect();
        let (session, talk_unseen) = observation_of(pids, request.sees_talk);
        meters.iter_mut().for_each(|meter| meter.times = meter.now());
        Ok(Recording {
            begun: Instant::now(),
            sampled: Instant::now(),
            meters,
            cpu_times: CpuTimes::now(root),
            interrupts: Interrupts::now(root),
            others_cpus: Vec::new(),
            session,
            talk_unseen,
            has_gaps: false,
        })
    }

    fn wait(&mut self, until: Duration, stop: &dyn Fn() -> bool) {
        let left = (self.begun + until).saturating_duration_since(Instant::now());
        let Some(session) = &mut self.session else { return std::thread::sleep(left) };
        let end = session.elapsed() + left;
        let broken = match session.watch(Some(end), stop) {
            Ok(ObservationEnd::Time | ObservationEnd::Stopped) => None,
            Ok(ObservationEnd::Program) => Some("all services ended".to_owned()),
            Err(error) => Some(with_causes(&error)),
        };
        if let Some(why) = broken {
            self.talk_unseen.get_or_insert(why);
            self.session = None;
        }
        let left = (self.begun + until).saturating_duration_since(Instant::now());
        if !stop() {
            std::thread::sleep(left);
        }
    }

    fn sample(&mut self, root: &Root) {
        let now = Instant::now();
        let passed_s = (now - self.sampled).as_secs_f64().max(1e-6);
        self.sampled = now;
        let used_cpus: f64 = self.meters.iter_mut().map(|meter| meter.sample(passed_s)).sum();
        let cpu_times = CpuTimes::now(root);
        let busy_percent: f64 = cpu_times
            .cpus()
            .filter_map(|cpu| cpu_times.since(&self.cpu_times, cpu))
            .map(|shares| shares.busy_percent)
            .sum();
        self.cpu_times = cpu_times;
        self.others_cpus.push((busy_percent / 100.0 - used_cpus).max(0.0));
    }

    fn end(mut self, request: &RecordRequest, root: &Root) -> ServicesRecord {
        let seconds = self.begun.elapsed().as_secs_f64().max(1e-6);
        let interval_s = if self.has_gaps {
            (self.sampled - self.begun).as_secs_f64() / self.others_cpus.len() as f64
        } else {
            request.interval.as_secs_f64()
        };
        let interrupts = device_interrupts(root, &self.interrupts, seconds);
        let session = self.session.take();
        let talk = session.map(|session| talk_of(&session.finish().0, &self.meters));
        ServicesRecord {
            format: FORMAT.to_owned(),
            machine: request.machine.clone(),
            begun: request.begun.clone(),
            interval_s,
            cpus: layout::online(root).unwrap_or_default().to_string(),
            computer: request.file.computer.clone(),
            services: self.meters.into_iter().map(|meter| meter.end(root)).collect(),
            others_cpus: self.others_cpus,
            interrupts,
            talk: talk.unwrap_or_default(),
            talk_unseen: self.talk_unseen,
        }
    }
}

impl ServiceMeter {
    fn begin(service: Service, pids: BTreeSet<Tid>, root: &Root) -> Result<Self, Failure> {
        let named = service.near.as_ref().map(|device| {
            devices::named(root, device).ok_or_else(|| {
                Failure::input(format!(
                    "service '{}' has near = \"{device}\", but there is no such network card, \
                     disk or PCI device",
                    service.name
                ))
            })
        });
        let near_node = named.transpose()?.and_then(|device| device.node);
        Ok(ServiceMeter {
            service,
            near_node,
            first: pids.iter().filter_map(|pid| ThreadIdentity::of(*pid)).collect(),
            pids,
            times: BTreeMap::new(),
            used_cpus: Vec::new(),
            waited_cpus: Vec::new(),
            restarted: false,
        })
    }

    fn now(&self) -> BTreeMap<ThreadIdentity, ThreadTimes> {
        task::by_identity(self.tids(), task::times)
    }

    fn tids(&self) -> impl Iterator<Item = Tid> {
        self.pids.iter().flat_map(|pid| task::threads(*pid).unwrap_or_default())
    }

    /// Returns the CPUs used.
    fn sample(&mut self, passed_s: f64) -> f64 {
        let now = self.now();
        let mut used_s = 0.0;
        let mut waited_s = 0.0;
        for (thread, times) in &now {
            let before = self.times.get(thread);
            let run_ns = times.run_ns.saturating_sub(before.map_or(0, |before| before.run_ns));
            let wait_before_ns = before.and_then(|before| before.wait_ns).unwrap_or(0);
            let wait_ns = times.wait_ns.unwrap_or(0).saturating_sub(wait_before_ns);
            // A thread that joins a service has earlier CPU time.
            used_s += (run_ns as f64 / 1e9).min(passed_s);
            waited_s += (wait_ns as f64 / 1e9).min(passed_s);
        }
        self.times = now;
        self.used_cpus.push(used_s / passed_s);
        self.waited_cpus.push(waited_s / passed_s);
        used_s / passed_s
    }

    fn look_for_members(&mut self, root: &Root) {
        let pids = living::processes(root, &self.service).unwrap_or_default();
        self.restarted |= !self.first.iter().any(|one| pids.contains(&one.tid) && one.exists());
        self.pids = pids;
    }

    fn end(self, root: &Root) -> RecordedService {
        let tids: Vec<Tid> = self.tids().collect();
        let masks = tids.iter().filter_map(|tid| CpuSet::of_thread(*tid).ok());
        let allowed: CpuSet = masks.flatten().collect();
        RecordedService {
            service: self.service,
            processes: self.pids.len(),
            threads: tids.len(),
            allowed: allowed.to_string(),
            used_cpus: self.used_cpus,
            waited_cpus: self.waited_cpus,
            memory_bytes: memory(root, &self.pids),
            near_node: self.near_node,
            restarted: self.restarted,
        }
    }
}

/// Empty if the kernel does not show this user the pages.
fn memory(root: &Root, pids: &BTreeSet<Tid>) -> BTreeMap<u32, u64> {
    let mut bytes = BTreeMap::new();
    for pages in pids.iter().filter_map(|pid| Pages::of_process(root, *pid).ok()) {
        for (node, more) in pages.own_bytes {
            *bytes.entry(node).or_insert(0) += more;
        }
    }
    bytes
}

fn observation_of(pids: Vec<Tid>, sees_talk: bool) -> (Option<ObservationSession>, Option<String>) {
    if !sees_talk {
        return (None, Some(NOT_ASKED.to_owned()));
    }
    match ObservationSession::begin(None, TracingMechanism::Best, &Subject::Survivors(pids)) {
        Ok(session) => (Some(session), None),
        Err(error) => (None, Some(with_causes(&error))),
    }
}

fn talk_of(seen: &Observation, meters: &[ServiceMeter]) -> Vec<ServiceTalk> {
    let seconds = seen.seconds().max(1e-3);
    let mut sums: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for share in &seen.shares {
        let ends = [share.from, share.to].map(|task| seen.tasks.get(task).map(|task| task.pid));
        let places = ends.map(|pid| pid.and_then(|pid| owner_of(meters, pid)));
        if let [Some(from), Some(to)] = places {
            *sums.entry((from, to)).or_insert(0.0) += share.messages;
        }
    }
    sums.into_iter()
        .map(|((from, to), messages)| ServiceTalk { from, to, per_s: messages / seconds })
        .collect()
}

/// The present owner first: a process may have the number of another service's ended one.
fn owner_of(meters: &[ServiceMeter], pid: Tid) -> Option<usize> {
    let is_now = meters.iter().position(|meter| meter.pids.contains(&pid));
    is_now.or_else(|| meters.iter().position(|meter| meter.first.iter().any(|one| one.tid == pid)))
}

fn device_interrupts(root: &Root, before: &Interrupts, seconds: f64) -> Vec<CpuInterrupts> {
    let now = Interrupts::now(root);
    let mut found = Vec::new();
    for cpu in now.cpus() {
        let came = now.since(before, *cpu);
        let of_devices: Vec<_> = came.iter().filter(|came| !came.is_per_cpu).collect();
        let count: u64 = of_devices.iter().map(|came| came.count).sum();
        if let Some(most) = of_devices.first() {
            let per_s = count as f64 / seconds;
            found.push(CpuInterrupts { cpu: *cpu, per_s, most: most.name.clone() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::process::{Child, Command, Stdio};

    /// It waits for its input.
    fn sleeper() -> Child {
        let mut cat = Command::new("cat");
        let mut child = cat.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(b".").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        child
    }

    fn spinner() -> Child {
        Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap()
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn request(pids: &[u32]) -> RecordRequest {
        let entries: String = pids
            .iter()
            .map(|pid| format!("[[service]]\nname = \"of-{pid}\"\npid = {pid}\n"))
            .collect();
        let text = format!("format = \"seatmap-services/1\"\n{entries}");
        RecordRequest {
            file: ServicesFile::from_toml(&text).unwrap(),
            time: Duration::from_millis(600),
            interval: Duration::from_millis(50),
            sees_talk: false,
            machine: "here".into(),
            begun: "now".into(),
        }
    }

    fn run(request: &RecordRequest) -> Result<ServicesRecord, Failure> {
        request.run(&Root::new("/"), &|| false, &|_, _| {})
    }

    #[test]
    fn busy_service_wants_one_cpu_and_sleeper_none() {
        let busy = spinner();
        let idle = sleeper();
        let record = run(&request(&[busy.id(), idle.id()])).unwrap();
        end(busy);
        end(idle);
        let wanted: f64 = record.services[0].wanted_cpus().iter().sum();
        let wanted = wanted / record.samples() as f64;
        assert!((0.5..1.6).contains(&wanted), "{wanted}");
        // On a busy computer it may still have CPU time in the first samples.
        let idle = record.services[1].wanted_cpus();
        assert_eq!(seatmap_data::statistics::quantile(&idle, 0.5), Some(0.0), "{idle:?}");
        assert!(!record.services[0].restarted);
        ServicesRecord::from_json(&seatmap_data::document::written(&record)).unwrap();
    }

    #[test]
    fn slow_sampling_does_not_prolong_recording() {
        let idle = sleeper();
        let request = request(&[idle.id()]);
        let slow = Duration::from_millis(200);
        let sleep = |_: usize, _: usize| std::thread::sleep(slow);
        let record = request.run(&Root::new("/"), &|| false, &sleep).unwrap();
        end(idle);
        // Twelve samples would be those of 600 ms.
        assert!((2..=5).contains(&record.samples()), "{}", record.samples());
        assert!(record.interval_s > 0.1, "{}", record.interval_s);
        let passed = Duration::from_secs(60);
        assert_eq!(request.next_sample(1, passed, 12), Some(1200), "two samples at least");
        assert_eq!(request.next_sample(2, passed, 12), None);
        assert_eq!(request.next_sample(2, Duration::from_millis(130), 12), Some(3));
    }

    #[test]
    fn ended_service_is_recorded_as_restarted() {
        let child = sleeper();
        let request = request(&[child.id()]);
        let child = std::cell::Cell::new(Some(child));
        let record = request.run(&Root::new("/"), &|| false, &|_, _| {
            child.take().into_iter().for_each(end);
        });
        assert!(record.unwrap().services[0].restarted);
    }

    #[test]
    fn process_with_reused_number_is_another() {
        let child = spinner();
        let root = Root::new("/");
        let pid = Tid::try_from(child.id()).unwrap();
        let service = request(&[child.id()]).file.services.remove(0);
        let begin = || ServiceMeter::begin(service.clone(), BTreeSet::from([pid]), &root).unwrap();
        let [mut meter, mut other] = [begin(), begin()];
        let now = *meter.first.first().unwrap();
        let ended = ThreadIdentity { started_ticks: now.started_ticks - 1, ..now };
        meter.look_for_members(&root);
        assert!(!meter.restarted);
        meter.first = BTreeSet::from([ended]);
        let times = ThreadTimes { run_ns: u64::MAX, wait_ns: None };
        meter.times = BTreeMap::from([(ended, times)]);
        meter.look_for_members(&root);
        let used_cpus = std::iter::repeat_with(|| meter.sample(1e9)).find(|cpus| *cpus > 0.0);
        end(child);
        assert!(meter.restarted && used_cpus.is_some());
        other.first.clear();
        meter.pids.clear();
        assert_eq!(owner_of(&[meter, other], pid), Some(1), "the first one's process has ended");
    }

    #[test]
    fn devices_map_to_numa_nodes_or_are_rejected() {
        let folder = seatmap_needs::tree(&[
            ("/sys/class/net/eth0/device/numa_node", "1\n"),
            ("/sys/class/block/nvme0n1/device/device/numa_node", "2\n"),
            ("/sys/bus/pci/devices/0000:17:00.0/numa_node", "-1\n"),
        ]);
        let root = Root::new(folder.path());
        for (name, node) in [("eth0", Some(1)), ("nvme0n1", Some(2)), ("0000:17:00.0", None)] {
            assert_eq!(devices::named(&root, name).map(|device| device.node), Some(node));
        }
        for name in ["eth1", "", "..", "../net/eth0"] {
            assert_eq!(devices::named(&root, name), None, "{name}");
        }
        let mut request = request(&[std::process::id()]);
        request.file.services[0].near = Some("no-such-card".into());
        let error = run(&request).unwrap_err();
        assert!(error.to_string().contains("has near = \"no-such-card\""), "{error}");
    }

    #[test]
    fn recording_rejects_too_few_samples() {
        let mut request = request(&[std::process::id()]);
        request.time = Duration::from_millis(50);
        let error = run(&request).unwrap_err();
        assert!(error.to_string().contains("gives 1 sample"), "{error}");
    }
}
