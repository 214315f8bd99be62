//! Cores, caches, dies, packages and the groups around them, from `/sys/devices/system/cpu`.

use super::TopologyError;
use super::nest::{Nest, SharingKind};
use super::tree::{CPUS, FileTree};
use seatmap_data::machine::import::MAX_PUS;
use seatmap_os::cpu_list::MAX_CPU;
use seatmap_os::{CpuSet, Root};
use std::collections::HashMap;

/// The online CPUs of known place. If the kernel describes the place of none, all online CPUs.
///
/// # Errors
/// [`TopologyError`], if no CPU is online, or more than [`MAX_PUS`] are.
pub fn running(tree: &FileTree) -> Result<CpuSet, TopologyError> {
    let names = tree.list(CPUS);
    let cpus = names
        .iter()
        .filter_map(|name| name.strip_prefix("cpu")?.parse::<u32>().ok())
        .filter(|os| *os <= MAX_CPU);
    let listed = tree.set(&format!("{CPUS}/online")).filter(|set| !set.is_empty());
    let is_on = |cpu: &u32| tree.of_cpu(*cpu, "online").as_deref() != Some("0");
    let online = listed.unwrap_or_else(|| cpus.clone().filter(is_on).collect());
    // A container may see another list than the kernel's.
    let own = if tree.is_host() { Root::new("/").running() } else { CpuSet::default() };
    let online = online.with(&own);
    let shown: CpuSet = cpus.filter(|cpu| online.contains(*cpu)).collect();
    let placed: CpuSet = shown
        .iter()
        .take(MAX_PUS + 1)
        .filter(|cpu| tree.has(&format!("{CPUS}/cpu{cpu}/topology")))
        .collect();
    // Old kernels and virtual machines lack the folders, and some dumps have only the list.
    let running = [placed, shown, online]
        .into_iter()
        .find(|set| !set.is_empty())
        .ok_or(TopologyError::NoCpu)?;
    match running.len() {
        ..=MAX_PUS => Ok(running),
        count => Err(TopologyError::TooMany { count }),
    }
}

fn is_set(tree: &FileTree, cpu: u32, name: &str) -> bool {
    let text = tree.of_cpu(cpu, &format!("topology/{name}"));
    text.is_some_and(|text| parsed(name, &text).is_some())
}

fn parsed(name: &str, text: &str) -> Option<CpuSet> {
    if name.ends_with("list") { CpuSet::of_list(text) } else { CpuSet::of_mask(text) }
}

/// The folders of a CPU's caches, more than any processor has.
pub const INDEXES: [&str; 8] =
    ["index0", "index1", "index2", "index3", "index4", "index5", "index6", "index7"];

/// The CPUs in the files read so far, whose shared parts need not be read again.
#[derive(Default)]
struct Met {
    cores: CpuSet,
    caches: HashMap<&'static str, CpuSet>,
}

/// The name of a set of CPUs in the `topology` folder of each CPU, if the first one has it: all
/// have the same files. Linux 5.3 renamed its file, and dumps may lack the mask or the list.
type AroundFile = Option<&'static str>;

pub struct TopologyReader<'a> {
    tree: &'a FileTree,
    running: &'a CpuSet,
    core: AroundFile,
    cluster: AroundFile,
    die: AroundFile,
    package: AroundFile,
    book: AroundFile,
    drawer: AroundFile,
    cache_map: &'static str,
    caches: usize,
    /// On AMD's Bulldozer the kernel calls two cores with a common L2 cache siblings.
    siblings_can_be_cores: bool,
}

impl<'a> TopologyReader<'a> {
    pub fn new(tree: &'a FileTree, running: &'a CpuSet) -> Self {
        let (cache_map, caches) = cache_files(tree, running);
        let file = |names: &[&'static str]| {
            let cpu = running.first()?;
            names.iter().copied().find(|name| is_set(tree, cpu, name))
        };
        TopologyReader {
            tree,
            running,
            core: file(&["core_cpus", "thread_siblings", "core_cpus_list", "thread_siblings_list"]),
            cluster: file(&["cluster_cpus", "cluster_cpus_list"]),
            die: file(&["die_cpus", "die_cpus_list"]),
            package: file(&[
                "package_cpus",
                "core_siblings",
                "package_cpus_list",
                "core_siblings_list",
            ]),
            book: file(&["book_siblings", "book_siblings_list"]),
            drawer: file(&["drawer_siblings", "drawer_siblings_list"]),
            cache_map,
            caches,
            siblings_can_be_cores: is_bulldozer(tree),
        }
    }

    pub fn nest(&self) -> Nest {
        let mut nest = Nest::new(self.running);
        let mut met = Met::default();
        for cpu in self.running.iter() {
            // The core was read at its first thread, and each file costs a system call.
            let is_sibling = met.cores.contains(cpu) && !self.siblings_can_be_cores;
            if !is_sibling {
                self.core_and_around(cpu, &mut met, &mut nest);
            }
            self.caches(cpu, &mut met, &mut nest);
        }
        nest
    }

    fn core_and_around(&self, cpu: u32, met: &mut Met, nest: &mut Nest) {
        let core = self.set_around(self.core, cpu);
        if core.as_ref().is_none_or(|core| core.first() == Some(cpu)) {
            self.around_core(cpu, nest);
        }
        if let Some(core) = core {
            met.cores.extend(&core);
            self.core(cpu, core, nest);
        }
    }

    fn core(&self, cpu: u32, core: CpuSet, nest: &mut Nest) {
        // Two cores of a Bulldozer module have different core ids.
        let own = self.siblings_can_be_cores
            && core.iter().any(|sibling| self.id(sibling, "core_id") != self.id(cpu, "core_id"));
        if own {
            nest.insert(SharingKind::Core, CpuSet::single(cpu), None)
        } else if core.first() == Some(cpu) {
            nest.insert(SharingKind::Core, core, None)
        }
    }

    /// Adds the sets around a core, given its first CPU. Each set is read at its own first CPU.
    fn around_core(&self, cpu: u32, nest: &mut Nest) {
        let cluster = self.set_around(self.cluster, cpu);
        // The kernel lists a cluster of one CPU if there are no clusters.
        if cluster.as_ref().is_none_or(|set| set.first() == Some(cpu) || set.len() == 1) {
            self.around_cluster(cpu, cluster.filter(|set| set.len() > 1), nest);
        }
        for (kind, around) in [(SharingKind::Book, self.book), (SharingKind::Drawer, self.drawer)] {
            if let Some(set) = self.set_around(around, cpu).filter(|set| set.first() == Some(cpu)) {
                nest.insert(kind, set, None);
            }
        }
    }

    /// Omits a die that fills its package: the kernel also lists the only die of a package.
    fn around_cluster(&self, cpu: u32, cluster: Option<CpuSet>, nest: &mut Nest) {
        let die = self.set_around(self.die, cpu);
        let starts_die = die.as_ref().is_none_or(|set| set.first() == Some(cpu));
        let is_first = starts_die || die.as_ref().is_some_and(|set| set.len() == 1);
        let package = is_first.then(|| self.set_around(self.package, cpu)).flatten();
        let die = die.filter(|set| set.len() > 1 && starts_die && Some(set) != package.as_ref());
        // hwloc omits a cluster that fills a die or a package.
        let cluster =
            cluster.filter(|set| Some(set) != die.as_ref() && Some(set) != package.as_ref());
        if let Some(package) = package.filter(|set| set.first() == Some(cpu)) {
            nest.insert(SharingKind::Package, package, self.id(cpu, "physical_package_id"));
        }
        cluster.into_iter().for_each(|set| nest.insert(SharingKind::Cluster, set, None));
        die.into_iter().for_each(|set| nest.insert(SharingKind::Die, set, None));
    }

    fn set_around(&self, file: AroundFile, cpu: u32) -> Option<CpuSet> {
        let text = self.tree.of_cpu(cpu, &format!("topology/{}", file?))?;
        parsed(file?, &text).map(|set| set.within(self.running))
    }

    fn id(&self, cpu: u32, name: &str) -> Option<u32> {
        self.tree.of_cpu(cpu, &format!("topology/{name}"))?.parse().ok()
    }

    fn caches(&self, cpu: u32, met: &mut Met, nest: &mut Nest) {
        for (at, name) in INDEXES.into_iter().enumerate() {
            if met.caches.get(name).is_some_and(|caches| caches.contains(cpu)) {
                continue;
            }
            let read = |file: &str| self.tree.of_cpu(cpu, &format!("cache/{name}/{file}"));
            let text = read(self.cache_map);
            // A CPU can have more caches than the first one, and some dumps lack a cache in
            // between.
            if text.is_none() && at >= self.caches {
                return;
            }
            let map = text.and_then(|text| parsed(self.cache_map, &text));
            // Itanium's kernels do not list the CPUs of some caches; those caches belong to the
            // core.
            let set = match map {
                Some(map) if map.is_empty() => self.set_around(self.core, cpu),
                map => map.map(|map| map.within(self.running)),
            };
            let Some(set) = set.filter(|set| set.first() == Some(cpu)) else { continue };
            met.caches.entry(name).or_default().extend(&set);
            let level = read("level").and_then(|text| text.parse::<u32>().ok());
            let holds_data = read("type").is_none_or(|text| text != "Instruction");
            let kind = level.filter(|_| holds_data).and_then(cache_kind);
            if let Some(kind) = kind.filter(|_| !self.is_guess(cpu, name, &set)) {
                nest.insert(kind, set, None);
            }
        }
    }

    /// Whether a cache is only the kernel's guess. Without caches in an Arm computer's firmware,
    /// Linux 6.12 lists one cache of each further level, shared by all CPUs
    /// (`cache_leaves_are_shared` in drivers/base/cacheinfo.c). It has no size, and is wrong for
    /// several packages. hwloc believes it.
    fn is_guess(&self, cpu: u32, name: &str, set: &CpuSet) -> bool {
        set == self.running
            && !self.tree.has(&format!("{CPUS}/cpu{cpu}/cache/{name}/size"))
            && self.set_around(self.package, cpu).is_some_and(|package| package != *set)
    }
}

/// The file with the CPUs that share a cache (a mask, or a list if a dump lacks the mask), and the
/// end of the cache numbers, from the first CPU with caches.
fn cache_files(tree: &FileTree, running: &CpuSet) -> (&'static str, usize) {
    let first = running
        .iter()
        .map(|cpu| cache_folders(tree, cpu))
        .find(|folders| !folders.is_empty())
        .unwrap_or_default();
    let has_mask =
        first.iter().any(|folder| tree.text(&format!("{folder}/shared_cpu_map")).is_some());
    let end = first
        .iter()
        .filter_map(|folder| folder.rsplit_once("index")?.1.parse::<usize>().ok())
        .max()
        .map_or(0, |last| last.saturating_add(1));
    (if has_mask { "shared_cpu_map" } else { "shared_cpu_list" }, end)
}

fn cache_folders(tree: &FileTree, cpu: u32) -> Vec<String> {
    let cache = format!("{CPUS}/cpu{cpu}/cache");
    let names = tree.list(&cache).into_iter().filter(|name| name.starts_with("index"));
    names.map(|name| format!("{cache}/{name}")).collect()
}

pub fn cache_kind(level: u32) -> Option<SharingKind> {
    match level {
        1 => Some(SharingKind::Inner),
        2 => Some(SharingKind::L2),
        3 => Some(SharingKind::L3),
        4 | 5 => Some(SharingKind::Outer),
        _ => None,
    }
}

/// Whether the first processor of `/proc/cpuinfo` is of AMD's family 21 or 22.
fn is_bulldozer(tree: &FileTree) -> bool {
    let cpuinfo = tree.first_page("proc/cpuinfo").unwrap_or_default();
    value(&cpuinfo, "vendor_id") == "AuthenticAMD"
        && matches!(value(&cpuinfo, "cpu family").as_str(), "21" | "22")
}

fn value(cpuinfo: &str, key: &str) -> String {
    seatmap_os::small::value_of(cpuinfo, key).unwrap_or_default()
}
