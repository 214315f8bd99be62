//! Variables that bind threads and memory.
//!
//! Environments may contain anything, so the parsers limit their work.

mod lists;
mod omp_places;

use crate::seating::Variable;
use seatmap_os::CpuSet;

const NAMES: [&str; 9] = [
    "GOMAXPROCS",
    "I_MPI_PIN",
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "OMP_THREAD_LIMIT",
    "KMP_HW_SUBSET",
    "MV2_CPU_MAPPING",
    "SLURM_CPUS_PER_TASK",
    "UV_THREADPOOL_SIZE",
];

/// Beginnings of others: `I_MPI_PIN_DOMAIN`, `SLURM_CPU_BIND_LIST`, `SLURM_MEM_BIND_TYPE`.
const BEGINNINGS: [&str; 5] =
    ["I_MPI_PIN_", "SLURM_CPU_BIND", "SLURM_MEM_BIND", "MV2_CPU_BINDING", "OMPI_MCA_hwloc_base"];

/// Endings of others: `OPENBLAS_NUM_THREADS`, `GOMP_CPU_AFFINITY`,
/// `OMPI_MCA_hwloc_base_binding_policy`.
const ENDINGS: [&str; 13] = [
    "_NUM_THREADS",
    "_AFFINITY",
    "_CPU_BIND",
    "_CPU_LIST",
    "_CPULIST",
    "_CPUS",
    "_CPUSET",
    "_MEM_BIND",
    "_THREADS_BIND",
    "_bind_to",
    "_bind",
    "_binding_policy",
    "_cpu_list",
];

/// Variables for the number of threads, besides `_NUM_THREADS`.
const COUNTS: [&str; 3] = ["GOMAXPROCS", "OMP_THREAD_LIMIT", "UV_THREADPOOL_SIZE"];

/// More places than any computer has CPUs are a mistake.
const MOST_PLACES: usize = 1 << 12;

/// Each variable ends with a zero byte, as in `/proc/PID/environ`.
pub fn binding(environment: &[u8]) -> Vec<Variable> {
    environment
        .split(|byte| *byte == 0)
        .filter_map(|bytes| {
            let at = bytes.iter().position(|byte| *byte == b'=')?;
            // A name that is not UTF-8 binds nothing.
            let name = std::str::from_utf8(&bytes[..at]).ok().filter(|name| binds(name))?;
            Some(read(name, &String::from_utf8_lossy(&bytes[at + 1..])))
        })
        .collect()
}

fn binds(name: &str) -> bool {
    NAMES.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn read(name: &str, value: &str) -> Variable {
    let places =
        places(name, value).filter(|places| places.len() <= MOST_PLACES).unwrap_or_default();
    let all = places.iter().fold(CpuSet::default(), |all, place| all.with(place));
    Variable {
        name: name.to_owned(),
        value: value.to_owned(),
        cpus: (!all.is_empty()).then(|| all.to_string()),
        places: places.iter().map(ToString::to_string).collect(),
        threads: threads(name, value),
    }
}

/// `None` if the variable names no CPUs by number.
fn places(name: &str, value: &str) -> Option<Vec<CpuSet>> {
    let value: String = value.trim().to_owned();
    match name {
        "OMP_PLACES" => omp_places::parse(&value),
        "GOMP_CPU_AFFINITY" => lists::gomp(&value),
        "KMP_AFFINITY" => lists::kmp(&value),
        "MV2_CPU_MAPPING" => lists::divided(&value, ':'),
        "I_MPI_PIN_DOMAIN" => lists::masks(value.strip_prefix('[')?.strip_suffix(']')?),
        "I_MPI_PIN_PROCESSOR_LIST" => lists::single(&value),
        "SLURM_CPU_BIND" => lists::slurm(&value),
        "SLURM_CPU_BIND_LIST" if value.contains("0x") => lists::masks(&value),
        "SLURM_CPU_BIND_LIST" => lists::maps(&value),
        _ if name.ends_with("_THREADS_BIND") => lists::divided(&value, '|'),
        // `NUM_CPUS=4` is a number of CPUs, and `MY_CPUS=0-3` a list.
        _ if name.ends_with("_CPUS") && !value.contains(['-', ',']) => None,
        _ if !is_list(name) => None,
        _ if value.starts_with("0x") => Some(vec![CpuSet::of_mask(&value)?]),
        _ => Some(vec![lists::list(&value)?.into_iter().collect()]),
    }
}

fn is_list(name: &str) -> bool {
    let endings =
        ["_CPU_AFFINITY", "_CPU_LIST", "_CPULIST", "_CPUS", "_CPUSET", "_CPU_BIND", "_cpu_list"];
    endings.iter().any(|ending| name.ends_with(ending))
}

/// OpenMP lists one for each level of nesting.
fn threads(name: &str, value: &str) -> Option<u32> {
    let counts = name.ends_with("_NUM_THREADS") || COUNTS.contains(&name);
    let first = value.split(',').next()?.trim();
    if counts { first.parse().ok().filter(|threads| *threads > 0) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asked(name: &str, value: &str) -> (Option<String>, Vec<String>, Option<u32>) {
        let variable = read(name, value);
        (variable.cpus, variable.places, variable.threads)
    }

    fn places_of(name: &str, value: &str) -> String {
        read(name, value).places.join(" ")
    }

    #[test]
    fn binding_variables_are_recognized() {
        let environment =
            b"HOME=/\0OMP_PLACES={0},{1}\0BROKEN\0MY_APP_CPU_LIST=2-3\0OMP_NUM_THREADS=4,2\0=x\0";
        let found = binding(environment);
        let names: Vec<&str> = found.iter().map(|variable| variable.name.as_str()).collect();
        assert_eq!(names, ["OMP_PLACES", "MY_APP_CPU_LIST", "OMP_NUM_THREADS"]);
        assert_eq!(
            (found[0].cpus.as_deref(), found[1].cpus.as_deref()),
            (Some("0,1"), Some("2,3"))
        );
        assert_eq!(found[2].threads, Some(4));
        let more = [
            "OMPI_MCA_hwloc_base_binding_policy",
            "PRTE_MCA_hwloc_default_binding_policy",
            "GOMAXPROCS",
        ];
        assert!(more.iter().all(|name| binds(name)) && !binds("PATH") && !binds("LS_COLORS"));
    }

    #[test]
    fn each_runtime_notation_is_parsed() {
        assert_eq!(places_of("GOMP_CPU_AFFINITY", "0 3 1-2 4-15:4"), "0 3 1 2 4 8 12");
        assert_eq!(
            places_of("KMP_AFFINITY", "granularity=fine,explicit,proclist=[3,{0,1},4-6:2]"),
            "3 0,1 4 6"
        );
        assert_eq!(places_of("SLURM_CPU_BIND", "quiet,mask_cpu:0x3,0x0000000C"), "0,1 2,3");
        assert_eq!(places_of("SLURM_CPU_BIND", "verbose,map_cpu:0,3*2,0x4"), "0 3 3 4");
        assert_eq!(places_of("SLURM_CPU_BIND_LIST", "0x1,0x2*2"), "0 1 1");
        assert_eq!(places_of("SLURM_CPU_BIND_LIST", "4,5"), "4 5");
        assert_eq!(places_of("MV2_CPU_MAPPING", "0:1-3:4,6"), "0 1-3 4,6");
        assert_eq!(places_of("VLLM_CPU_OMP_THREADS_BIND", "0-2|4-6"), "0-2 4-6");
        assert_eq!(places_of("I_MPI_PIN_DOMAIN", "[3,0xc]"), "0,1 2,3");
        assert_eq!(places_of("I_MPI_PIN_PROCESSOR_LIST", "0,4-5"), "0 4 5");
        assert_eq!(places_of("SOME_CPU_AFFINITY", "0x5"), "0,2");
    }

    #[test]
    fn symbolic_values_name_no_cpus() {
        let words = [
            ("OMP_PLACES", "cores(4)"),
            ("OMP_PROC_BIND", "close"),
            ("KMP_AFFINITY", "compact,1,0"),
            ("SLURM_CPU_BIND", "quiet,cores"),
            ("SLURM_CPUS_PER_TASK", "4"),
            ("NUM_CPUS", "4"),
            ("I_MPI_PIN_DOMAIN", "socket"),
            ("I_MPI_PIN_PROCESSOR_LIST", "all:map=bunch"),
            ("OMPI_MCA_hwloc_base_binding_policy", "core"),
        ];
        for (name, value) in words {
            assert_eq!(asked(name, value), (None, Vec::new(), None), "{name}={value}");
        }
        assert_eq!(asked("GOMAXPROCS", "8").2, Some(8));
        assert_eq!(
            [asked("OMP_NUM_THREADS", "0").2, asked("OMP_NUM_THREADS", "many").2],
            [None, None]
        );
    }

    #[test]
    fn parsed_places_are_capped() {
        let names = [
            "OMP_PLACES",
            "GOMP_CPU_AFFINITY",
            "KMP_AFFINITY",
            "SLURM_CPU_BIND",
            "MV2_CPU_MAPPING",
            "A_CPU_LIST",
        ];
        let values = [
            "0-1048576,".repeat(10_000),
            "{0:1000000:1}:1000000:1,".repeat(100),
            "0*4000000000,".repeat(100),
        ];
        for value in names.iter().flat_map(|name| values.iter().map(move |value| (name, value))) {
            let (name, value) = value;
            let value = match *name {
                "KMP_AFFINITY" => format!("proclist=[{value}0]"),
                "SLURM_CPU_BIND" => format!("map_cpu:{value}0"),
                _ => format!("{value}0"),
            };
            assert!(read(name, &value).places.len() <= MOST_PLACES, "{name}");
        }
    }

    fn names() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "OMP_PLACES",
            "GOMP_CPU_AFFINITY",
            "KMP_AFFINITY",
            "SLURM_CPU_BIND",
            "SLURM_CPU_BIND_LIST",
            "MV2_CPU_MAPPING",
            "VLLM_CPU_OMP_THREADS_BIND",
            "I_MPI_PIN_DOMAIN",
            "I_MPI_PIN_PROCESSOR_LIST",
            "A_CPU_LIST",
            "OMP_NUM_THREADS",
        ])
    }

    proptest! {
        #[test]
        fn arbitrary_environment_never_panics(environment: Vec<u8>) {
            let _ = binding(&environment);
        }

        #[test]
        fn arbitrary_value_never_panics(name in names(), value: String) {
            let _ = read(name, &value);
        }

        #[test]
        fn nearly_valid_value_never_panics(name in names(), value in r"[\[\]{}0-9x:,*! |-]{0,40}", wrapped: bool) {
            let value = if wrapped { format!("proclist=[{value}]") } else { format!("map_cpu:{value}") };
            let _ = (read(name, &value), read(name, value.trim_start_matches("map_cpu:")));
        }
    }
}
