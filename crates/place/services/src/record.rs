//! `seatmap-services-record/1`: the load of services over time, and other data for a plan.
//!
//! The same record gives the same plan, also for another machine and after the services have ended.

use crate::file::{SharedComputer, check_service};
use crate::{Service, ServicesFile};
use seatmap_data::document::{Checked, DocumentError, Failure, inconsistent, unfit};
use seatmap_data::statistics::words::counted;
use seatmap_data::statistics::{greatest, median, quantile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-services-record/1";

/// The services of a computer over a period of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServicesRecord {
    /// Name and version of the format.
    pub format: String,
    /// The name of the computer.
    pub machine: String,
    /// When the recording started, as a date with a time.
    pub begun: String,
    /// The interval between samples, in seconds.
    pub interval_s: f64,
    /// The online CPUs, as a list.
    pub cpus: String,
    /// Settings for the whole computer, from the file.
    pub computer: SharedComputer,
    /// The services, in the order of the file.
    pub services: Vec<RecordedService>,
    /// CPU time of all other processes and the kernel in each sample, in CPUs.
    pub others_cpus: Vec<f64>,
    /// The device interrupts on each CPU.
    pub interrupts: Vec<CpuInterrupts>,
    /// Messages between and inside services, with one entry for each ordered pair that talked.
    pub talk: Vec<ServiceTalk>,
    /// The reason why no talk was seen; null if talk was seen.
    pub talk_unseen: Option<String>,
}

/// One service over the time of a record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedService {
    /// The entry of the file.
    pub service: Service,
    /// The number of its processes at the end.
    pub processes: usize,
    /// The number of its threads at the end.
    pub threads: usize,
    /// The CPUs that its threads might use, all together, as a list.
    pub allowed: String,
    /// CPU time that it used in each sample, in CPUs.
    pub used_cpus: Vec<f64>,
    /// Time that its threads were ready without a CPU in each sample, in threads.
    pub waited_cpus: Vec<f64>,
    /// Its memory by NUMA node, in bytes; empty if it could not be read.
    pub memory_bytes: BTreeMap<u32, u64>,
    /// The NUMA node of the device that it should be near; null if there is none.
    pub near_node: Option<u32>,
    /// Whether it restarted, or ended and started, during the recording.
    pub restarted: bool,
}

/// Device interrupts of one CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuInterrupts {
    /// The CPU.
    pub cpu: u32,
    /// Interrupts per second.
    pub per_s: f64,
    /// The source of most of them.
    pub most: String,
}

/// Messages from one service to another, or inside one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServiceTalk {
    /// The index of the sender in `services`.
    pub from: usize,
    /// The index of the receiver.
    pub to: usize,
    /// Messages per second.
    pub per_s: f64,
}

/// A summary of the load of one service.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadSummary {
    /// The median of its load, in CPUs.
    pub median_cpus: f64,
    /// The 99th percentile, in CPUs.
    pub p99_cpus: f64,
    /// The largest load in any sample, in CPUs.
    pub most_cpus: f64,
    /// The mean number of its threads that waited for a CPU.
    pub waited_cpus: f64,
}

impl RecordedService {
    /// The CPUs that it wanted in each sample: used plus waiting time.
    pub fn wanted_cpus(&self) -> Vec<f64> {
        self.used_cpus.iter().zip(&self.waited_cpus).map(|(used, waited)| used + waited).collect()
    }

    /// A summary of its load.
    pub fn summary(&self) -> LoadSummary {
        let samples = self.waited_cpus.len().max(1) as f64;
        LoadSummary {
            median_cpus: median(&self.used_cpus).unwrap_or(0.0),
            p99_cpus: quantile(&self.used_cpus, 0.99).unwrap_or(0.0),
            most_cpus: greatest(&self.used_cpus),
            waited_cpus: self.waited_cpus.iter().sum::<f64>() / samples,
        }
    }
}

impl ServicesRecord {
    /// The number of samples.
    pub fn samples(&self) -> usize {
        self.others_cpus.len()
    }

    /// The largest simultaneous load, in CPUs: less than the sum of separate peaks.
    pub fn joint_peak_cpus(&self) -> f64 {
        let mut sums = vec![0.0; self.samples()];
        for service in &self.services {
            for (sum, wanted) in sums.iter_mut().zip(service.wanted_cpus()) {
                *sum += wanted;
            }
        }
        greatest(sums)
    }

    /// The load with the limits and services of a file; other services count as other programs.
    ///
    /// # Errors
    /// [`Failure`]: the file has a service that was not recorded.
    pub fn with_limits(&self, file: &ServicesFile) -> Result<Self, Failure> {
        let mut limited = ServicesRecord {
            computer: file.computer.clone(),
            services: Vec::new(),
            ..self.clone()
        };
        let mut places = Vec::new();
        for service in &file.services {
            let names = self.services.iter().map(|recorded| &recorded.service.name);
            let Some(at) = names.into_iter().position(|name| *name == service.name) else {
                return unfit(format!(
                    "service '{}' is not in the record; record again with 'seatmap services \
                     observe'",
                    service.name
                ));
            };
            places.push(at);
            limited
                .services
                .push(RecordedService { service: service.clone(), ..self.services[at].clone() });
        }
        for (at, left_out) in self.services.iter().enumerate() {
            if !places.contains(&at) {
                let used = limited.others_cpus.iter_mut().zip(&left_out.used_cpus);
                used.for_each(|(others, more)| *others += more);
            }
        }
        limited.talk = Vec::new();
        for talk in &self.talk {
            let ends = [talk.from, talk.to].map(|end| places.iter().position(|at| *at == end));
            if let [Some(from), Some(to)] = ends {
                limited.talk.push(ServiceTalk { from, to, per_s: talk.per_s });
            }
        }
        Ok(limited)
    }

    /// Reads and checks a record.
    ///
    /// # Errors
    /// [`DocumentError`].
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let record: ServicesRecord = seatmap_data::document::read(text, FORMAT)?;
        record.check()?;
        Ok(record)
    }

    fn check(&self) -> Checked {
        let samples = self.samples();
        if samples == 0 {
            return inconsistent("others_cpus is empty: the record has no samples");
        }
        if !(self.interval_s > 0.0 && self.interval_s.is_finite()) {
            return inconsistent("interval_s is not above 0");
        }
        for (at, service) in self.services.iter().enumerate() {
            if let Err(error) = check_service(&service.service) {
                return inconsistent(format!("services[{at}]: {error}"));
            }
            for (key, values) in
                [("used_cpus", &service.used_cpus), ("waited_cpus", &service.waited_cpus)]
            {
                if values.len() != samples {
                    return inconsistent(format!(
                        "services[{at}].{key} has {}, but others_cpus has {samples}",
                        counted(values.len(), "sample")
                    ));
                }
                if let Some(wrong) = values.iter().find(|value| !(0.0..=1e6).contains(*value)) {
                    return inconsistent(format!(
                        "services[{at}].{key} has the invalid value {wrong}"
                    ));
                }
            }
        }
        let count = self.services.len();
        match self
            .talk
            .iter()
            .position(|talk| talk.from.max(talk.to) >= count || !(0.0..).contains(&talk.per_s))
        {
            Some(at) => inconsistent(format!("talk[{at}] is not between two services")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> ServicesRecord {
        let service = Service { name: "a".into(), command: Some("a".into()), ..Service::default() };
        let service = RecordedService {
            service,
            used_cpus: vec![0.5, 1.0],
            waited_cpus: vec![0.0, 0.5],
            ..RecordedService::default()
        };
        ServicesRecord {
            format: FORMAT.into(),
            interval_s: 0.1,
            services: vec![service.clone(), service],
            others_cpus: vec![0.0; 2],
            ..ServicesRecord::default()
        }
    }

    #[test]
    fn record_round_trips_through_json() {
        let record = record();
        let text = seatmap_data::document::written(&record);
        assert_eq!(ServicesRecord::from_json(&text).unwrap(), record);
        assert_eq!(record.joint_peak_cpus(), 3.0);
        assert_eq!(record.services[0].summary().median_cpus, 0.75);
    }

    fn of_one(name: &str) -> ServicesFile {
        let head = "format = \"seatmap-services/1\"\n[[service]]\n";
        ServicesFile::from_toml(&format!("{head}name = \"{name}\"\npid = 7\nleast_cpus = 2"))
            .unwrap()
    }

    fn error(change: fn(&mut ServicesRecord)) -> String {
        let mut changed = record();
        change(&mut changed);
        changed.check().unwrap_err().to_string()
    }

    #[test]
    fn services_file_selects_services_and_sets_limits() {
        let mut record = record();
        record.services[0].service.name = "a".into();
        record.services[1].service.name = "b".into();
        record.talk.push(ServiceTalk { from: 1, to: 1, per_s: 5.0 });
        let limited = record.with_limits(&of_one("b")).unwrap();
        assert_eq!(limited.services.len(), 1);
        assert_eq!(limited.services[0].service.least_cpus, Some(2));
        assert_eq!(limited.others_cpus, [0.5, 1.0]);
        assert_eq!(limited.talk, [ServiceTalk { from: 0, to: 0, per_s: 5.0 }]);
        let lacking = record.with_limits(&of_one("c")).unwrap_err().to_string();
        assert!(lacking.starts_with("service 'c' is not"), "{lacking}");
    }

    #[test]
    fn inconsistent_record_parts_are_named() {
        assert!(error(|record| record.others_cpus.clear()).contains("no sample"));
        assert!(error(|record| record.interval_s = 0.0).contains("interval_s"));
        assert_eq!(
            error(|record| record.services[1].used_cpus.truncate(1)),
            "services[1].used_cpus has 1 sample, but others_cpus has 2"
        );
        assert!(error(|record| record.services[0].used_cpus[0] = f64::NAN).contains("NaN"));
        let talk = ServiceTalk { from: 0, to: 9, per_s: 1.0 };
        let mut far = record();
        far.talk.push(talk);
        assert!(far.check().unwrap_err().to_string().contains("talk[0]"));
    }
}
