//! The settings by which runtimes take their number of threads or CPUs.

use super::{GO_VARIABLE, JAVA_OPTION, LanguageRuntime};

/// A variable that sets how many threads a runtime starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountSetting {
    /// The environment variable.
    pub variable: &'static str,
    /// The option before the number, in a variable that may hold other options too; else empty.
    pub option: &'static str,
    /// The variable that its readers use if this one is not set.
    pub fallback: Option<&'static str>,
    /// Beginnings of the file names of the libraries that read it; empty if the reader is not a
    /// shared library of its own.
    pub libraries: &'static [&'static str],
}

const OPENMP: &str = "OMP_NUM_THREADS";

/// One setting per runtime, from their manuals. A count of CPUs is each one's default, so that the
/// setting raises none: `ZSTD_NBTHREADS` and `JULIA_NUM_THREADS` would, whose default is 1, and
/// libuv's pool (`UV_THREADPOOL_SIZE`) has four threads on every computer.
pub const COUNT_SETTINGS: [CountSetting; 17] = [
    CountSetting::new(OPENMP).read_by(&["libgomp", "libomp", "libiomp5"]),
    CountSetting::new("OPENBLAS_NUM_THREADS")
        .or_openmp()
        .read_by(&["libopenblas", "libscipy_openblas"]),
    CountSetting::new("MKL_NUM_THREADS").or_openmp().read_by(&["libmkl_"]),
    CountSetting::new("NUMBA_NUM_THREADS"),
    CountSetting::new("NUMEXPR_NUM_THREADS").or_openmp(),
    CountSetting::new(GO_VARIABLE),
    CountSetting::new("RAYON_NUM_THREADS"),
    CountSetting::new("TOKIO_WORKER_THREADS"),
    CountSetting::new("POLARS_MAX_THREADS"),
    CountSetting::new("PYTHON_CPU_COUNT"),
    CountSetting::new("LOKY_MAX_CPU_COUNT"),
    CountSetting::new("R_DATATABLE_NUM_THREADS").or_openmp(),
    CountSetting::new("MAGICK_THREAD_LIMIT"),
    CountSetting::new("PYTEST_XDIST_AUTO_NUM_WORKERS"),
    CountSetting::new("CARGO_BUILD_JOBS"),
    CountSetting {
        option: JAVA_OPTION,
        ..CountSetting::new("JAVA_TOOL_OPTIONS").read_by(&["libjvm"])
    },
    CountSetting { option: "-p", ..CountSetting::new("PIGZ") },
];

impl CountSetting {
    const fn new(variable: &'static str) -> Self {
        CountSetting { variable, option: "", fallback: None, libraries: &[] }
    }

    const fn or_openmp(self) -> Self {
        CountSetting { fallback: Some(OPENMP), ..self }
    }

    const fn read_by(self, libraries: &'static [&'static str]) -> Self {
        CountSetting { libraries, ..self }
    }

    /// The setting that a library reads, by its file name.
    #[must_use]
    pub fn of_library(file: &str) -> Option<&'static Self> {
        COUNT_SETTINGS
            .iter()
            .find(|setting| setting.libraries.iter().any(|library| file.starts_with(library)))
    }

    /// The variable's value for this many threads, after the options that it already holds. `None`
    /// if the user has set the number, here or in the fallback.
    #[must_use]
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
        let setting = COUNT_SETTINGS.iter().find(|setting| setting.variable == name).unwrap();
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
    fn libraries_name_their_setting() {
        for (file, variable) in [
            ("libgomp.so.1.0.0", Some("OMP_NUM_THREADS")),
            ("libscipy_openblas64_-8fb3.so", Some("OPENBLAS_NUM_THREADS")),
            ("libmkl_rt.so.2", Some("MKL_NUM_THREADS")),
            ("libjvm.so", Some("JAVA_TOOL_OPTIONS")),
            ("libc.so.6", None),
        ] {
            let setting = CountSetting::of_library(file);
            assert_eq!(setting.map(|setting| setting.variable), variable, "{file}");
        }
    }

    #[test]
    fn each_variable_is_in_the_table_once() {
        let mut names = COUNT_SETTINGS.map(|setting| setting.variable);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
