//! Trees of files that tests write.

use std::collections::BTreeMap;
use std::path::Path;

#[derive(Clone, Debug, Default)]
pub struct Files(pub BTreeMap<String, String>);

pub fn mask(pus: &[u32]) -> String {
    let words = pus.iter().max().map_or(1, |last| *last as usize / 32 + 1);
    let mut mask = vec![0u32; words];
    pus.iter().for_each(|pu| mask[*pu as usize / 32] |= 1 << (pu % 32));
    mask.iter().rev().map(|word| format!("{word:08x}")).collect::<Vec<_>>().join(",")
}

pub fn list(pus: &[u32]) -> String {
    pus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

impl Files {
    pub fn of_pus(pus: &[u32]) -> Self {
        let mut files = Files::default();
        files.put("sys/devices/system/cpu/online", list(pus));
        for pu in pus {
            files.around("core_cpus", &[*pu]);
            files.put(&format!("sys/devices/system/cpu/cpu{pu}/topology/core_id"), pu.to_string());
        }
        files
    }

    pub fn put(&mut self, path: &str, text: impl Into<String>) {
        self.0.insert(path.to_owned(), text.into() + "\n");
    }

    pub fn remove(&mut self, with: &str) {
        self.0.retain(|path, _| !path.contains(with));
    }

    pub fn around(&mut self, name: &str, pus: &[u32]) {
        for pu in pus {
            self.put(&format!("sys/devices/system/cpu/cpu{pu}/topology/{name}"), mask(pus));
        }
    }

    pub fn package(&mut self, id: u32, pus: &[u32]) {
        self.around("package_cpus", pus);
        for pu in pus {
            self.put(
                &format!("sys/devices/system/cpu/cpu{pu}/topology/physical_package_id"),
                id.to_string(),
            );
        }
    }

    pub fn cache(&mut self, index: u32, level: u32, kind: &str, pus: &[u32]) {
        for pu in pus {
            let folder = format!("sys/devices/system/cpu/cpu{pu}/cache/index{index}");
            self.put(&format!("{folder}/level"), level.to_string());
            self.put(&format!("{folder}/type"), kind);
            self.put(&format!("{folder}/shared_cpu_map"), mask(pus));
        }
    }

    pub fn group(&mut self, kind: &str, id: u32, pus: &[u32]) {
        self.put("proc/hwloc-nofile-info", "Architecture: s390x");
        self.around(&format!("{kind}_siblings"), pus);
        for pu in pus {
            self.put(&format!("sys/devices/system/cpu/cpu{pu}/topology/{kind}_id"), id.to_string());
        }
    }

    pub fn node(&mut self, os: u32, pus: &[u32], distances: &[u32]) {
        self.put(&format!("sys/devices/system/node/node{os}/cpumap"), mask(pus));
        let distances: Vec<String> = distances.iter().map(u32::to_string).collect();
        self.put(&format!("sys/devices/system/node/node{os}/distance"), distances.join(" "));
    }

    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(folder.join("sys"))?;
        for (path, text) in &self.0 {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
            std::fs::write(path, text)?;
        }
        Ok(())
    }
}
