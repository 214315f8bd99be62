//! `seatmap services apply` on a domain of libvirt.

use crate::common::{Arguments, Guarded, Place, assert_contains, stderr, stdout};
use crate::control_group::Group;
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

/// libvirt's test driver loses its state with the connection, so one process of the real `virsh`
/// keeps it. The driver's `vcpupin` does not know `--live`.
const VIRSH: &str = r#"#!/bin/sh
cd "$(dirname "$0")/.." || exit 1
line="$*"
case $1 in vcpupin) line=${line% --live};; esac
echo "$line" >to
echo "echo --- 'end'" >to
failed=0
while IFS= read -r line; do
  case $line in
  "--- end") exit $failed;;
  "virsh # "*) ;;
  error:*) failed=1; echo "$line" >&2;;
  *) echo "$line";;
  esac
done <from
exit 1
"#;

/// A domain in a plan. A sleeping process replaces the domain's, in a group with libvirt's name.
struct Domain {
    place: Place,
    name: String,
    sleeper: Guarded,
    /// Dropped last, because a group with members cannot be removed.
    _group: Group,
}

impl Domain {
    fn new() -> Option<Self> {
        let place = Place::new();
        let name = format!("seatmap-{}", place.folder().file_name()?.to_str()?.trim_matches('.'));
        let name = name.replace('_', "");
        let group = Group::named("cpuset", &format!("qemu-1-{name}.libvirt-qemu"))?;
        for file in ["cpuset.mems", "cpuset.cpus"] {
            let above = std::fs::read_to_string(group.0.parent()?.join(file));
            group.set(file, &above.unwrap_or_default());
        }
        let mut sleeper = Command::new("sleep");
        let sleeper = Guarded(group.begun(sleeper.arg("1000")));
        std::fs::create_dir(place.path("bin")).ok()?;
        let file = "format = \"seatmap-services/1\"\n[[service]]\nname = \"web\"\n";
        place.file("services.toml", format!("{file}domain = \"{name}\"\n"));
        let domain = Domain { place, name, sleeper, _group: group };
        printed(&mut domain.services("plan --seconds 300ms -o plan.json"));
        let mut plan: Value = serde_json::from_str(&domain.place.read("plan.json")).unwrap();
        // The test driver pins no process, so any CPU is right for the sleeper.
        let cpus: seatmap_os::CpuSet =
            seatmap_os::affinity::current().unwrap().into_iter().collect();
        plan["services"][0]["cpus"] = cpus.to_string().into();
        domain.place.file("plan.json", plan.to_string());
        Some(domain)
    }

    fn services(&self, arguments: impl Arguments) -> Command {
        let mut command = self.place.command(("services", arguments));
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.place.path("bin").display()));
        command.env("SEATMAP_RUN", self.place.path("run"));
        command
    }

    fn libvirt(&self) -> (Guarded, [File; 2]) {
        let node = format!(
            "<node><domain type='test'><name>{}</name><memory>1048576</memory><vcpu>2</vcpu>\
             <iothreads>1</iothreads><os><type>hvm</type></os></domain></node>",
            self.name
        );
        self.place.file("node.xml", node);
        let ends = ["to", "from"].map(|pipe| {
            let path = self.place.path(pipe);
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            File::options().read(true).write(true).open(path).unwrap()
        });
        let libvirt = Command::new("virsh")
            .args(["-c", &format!("test://{}", self.place.path("node.xml").display())])
            .env("LC_ALL", "C")
            .stdin(ends[0].try_clone().unwrap())
            .stdout(ends[1].try_clone().unwrap())
            .stderr(ends[1].try_clone().unwrap())
            .spawn()
            .unwrap();
        self.install(VIRSH);
        (Guarded(libvirt), ends)
    }

    fn install(&self, script: &str) {
        self.place.file("bin/virsh", script);
        let executable = PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(self.place.path("bin/virsh"), executable).unwrap();
    }

    fn refusal(&self, path: &str, code: i32) -> String {
        let mut apply = self.services("apply plan.json");
        let output = apply.env("PATH", path).output().unwrap();
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(!self.place.path("run/services/services.json").exists());
        told
    }

    fn pins(&self) -> String {
        let mut all = String::new();
        for verb in ["vcpupin", "iothreadinfo", "emulatorpin"] {
            let mut virsh = Command::new(self.place.path("bin/virsh"));
            all += &printed(virsh.args([verb, "--domain", &self.name, "--live"]));
        }
        all
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        let _ = self.sleeper.kill();
        let _ = self.sleeper.wait();
    }
}

#[test]
fn libvirt_pins_and_restores_domain() {
    if Command::new("virsh").arg("--version").output().is_err() {
        return seatmap_needs::skipped!("virsh is not installed");
    }
    let Some(domain) = Domain::new() else {
        return seatmap_needs::skipped!("no cpuset can be made");
    };
    let _libvirt = domain.libvirt();
    // The first answer begins with a greeting.
    let _ = domain.pins();
    let before = domain.pins();
    assert!(before.contains("emulator:") && before.contains("IOThread ID"), "{before}");
    for _ in 0..2 {
        let told = printed(&mut domain.services("apply plan.json --ttl 1h"));
        // Two vCPUs and the emulator; the I/O thread is already within the set.
        assert_contains(&told, "3 settings changed");
        assert_ne!(domain.pins(), before);
        printed(&mut domain.services("undo"));
        assert_eq!(domain.pins(), before);
    }
}

#[test]
fn missing_virsh_or_libvirt_changes_nothing() {
    let Some(domain) = Domain::new() else {
        return seatmap_needs::skipped!("no cpuset can be made");
    };
    let told = domain.refusal("/nonexistent", 2);
    assert_contains(&told, "'web' is a libvirt domain, but 'virsh' is not installed");
    domain.install("#!/bin/sh\necho 'error: Failed to connect socket' >&2\nexit 1\n");
    let own = domain.place.path("bin").display().to_string();
    let told = domain.refusal(&format!("{own}:/usr/bin:/bin"), 1);
    assert_contains(&told, "Failed to connect socket");
}
