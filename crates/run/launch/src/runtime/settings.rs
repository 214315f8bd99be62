//! The settings by which runtimes take their number of threads or CPUs.

use super::{GO_VARIABLE, JAVA_OPTION, LanguageRuntime};

/// A variable that sets how many threads a runtime starts.
#[derive(Clone, Copy)]
pub struct CountVariable {
    /// The environment variable.
    pub variable: &'static str,
    /// The option before the number, if the variable may hold other options too; else empty.
    pub option: &'static str,
    /// The variable used if this one is not set.
    pub fallback: Option<&'static str>,
}

const OPENMP: &str = "OMP_NUM_THREADS";

/// One setting per runtime, from their manuals. A count of CPUs is each one's default, so that the
/// setting raises none: `ZSTD_NBTHREADS` and `JULIA_NUM_THREADS` would, whose default is 1, and
/// libuv's pool (`UV_THREADPOOL_SIZE`) has four threads on every computer.
pub const COUNT_VARIABLES: [CountVariable; 17] = [
    only(OPENMP),
    or_openmp("OPENBLAS_NUM_THREADS"),
    or_openmp("MKL_NUM_THREADS"),
    only("NUMBA_NUM_THREADS"),
    or_openmp("NUMEXPR_NUM_THREADS"),
    only(GO_VARIABLE),
    only("RAYON_NUM_THREADS"),
    only("TOKIO_WORKER_THREADS"),
    only("POLARS_MAX_THREADS"),
    only("PYTHON_CPU_COUNT"),
    only("LOKY_MAX_CPU_COUNT"),
    or_openmp("R_DATATABLE_NUM_THREADS"),
    only("MAGICK_THREAD_LIMIT"),
    only("PYTEST_XDIST_AUTO_NUM_WORKERS"),
    only("CARGO_BUILD_JOBS"),
    CountVariable { option: JAVA_OPTION, ..only("JAVA_TOOL_OPTIONS") },
    CountVariable { option: "-p", ..only("PIGZ") },
];

const fn only(variable: &'static str) -> CountVariable {
    CountVariable { variable, option: "", fallback: None }
}

const fn or_openmp(variable: &'static str) -> CountVariable {
    CountVariable { fallback: Some(OPENMP), ..only(variable) }
}

impl CountVariable {
    /// The variable's value for this many threads, after its present options. `None` if the user
    /// has set the number, here or in the fallback.
    pub fn value(
        &self,
        threads: usize,
        arguments: &[String],
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Option<String> {
        let own = variable(self.variable).unwrap_or_default();
        let is_set = if self.option == JAVA_OPTION {
            LanguageRuntime::Java.is_sized(arguments, variable)
        } else {
            let holds = own.contains(self.option) && !own.is_empty();
            holds || self.fallback.is_some_and(|name| variable(name).is_some())
        };
        let number = format!("{}{threads}", self.option);
        match (is_set, own.trim()) {
            (true, _) => None,
            (false, "") => Some(number),
            (false, options) => Some(format!("{options} {number}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str, set: &[(&str, &str)]) -> Option<String> {
        let setting = COUNT_VARIABLES.iter().find(|setting| setting.variable == name).unwrap();
        setting.value(2, &[], &|name| {
            set.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn is(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn settings_of_the_user_stay() {
        assert_eq!(value("GOMAXPROCS", &[]), is("2"));
        assert_eq!(value("GOMAXPROCS", &[("GOMAXPROCS", "8")]), None);
        assert_eq!(value("GOMAXPROCS", &[("GOMAXPROCS", "")]), is("2"), "as if not set");
        assert_eq!(value("MKL_NUM_THREADS", &[("OMP_NUM_THREADS", "8")]), None, "MKL reads it");
        assert_eq!(value("RAYON_NUM_THREADS", &[("OMP_NUM_THREADS", "8")]), is("2"));
    }

    #[test]
    fn options_are_added_to_those_of_the_user() {
        let java = "JAVA_TOOL_OPTIONS";
        assert_eq!(value(java, &[]), is("-XX:ActiveProcessorCount=2"));
        assert_eq!(value(java, &[(java, "-Xmx1g")]), is("-Xmx1g -XX:ActiveProcessorCount=2"));
        assert_eq!(value(java, &[(java, "-XX:ActiveProcessorCount=8")]), None);
        let other = [("JDK_JAVA_OPTIONS", "-XX:ActiveProcessorCount=8")];
        assert_eq!(value(java, &other), None);
        assert_eq!(value("PIGZ", &[("PIGZ", "-9")]), is("-9 -p2"));
        assert_eq!(value("PIGZ", &[("PIGZ", "-p 8")]), None);
    }

    #[test]
    fn each_variable_is_in_the_table_once() {
        let mut names = COUNT_VARIABLES.map(|setting| setting.variable);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
