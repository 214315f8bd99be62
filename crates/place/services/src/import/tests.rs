//! Files of each tool, alone and together, and invalid ones.

use super::*;
use crate::{ServicesFile, ServicesPlan, export};
use proptest::prelude::*;
use seatmap_data::document::Failure;
use seatmap_data::machine::Profile;

fn file<'a>(name: &'a str, text: &'a str) -> SourceFile<'a> {
    SourceFile { name, text, is_from_folder: false }
}

/// With groups made by systemd.
fn read_all(files: &[SourceFile]) -> Result<ImportedSeats, Failure> {
    read(files, Vec::new(), None, CgroupDriver::Systemd)
}

fn read_one(name: &str, text: &str) -> ImportedSeats {
    read_all(&[file(name, text)]).unwrap()
}

fn refused(name: &str, text: &str) -> String {
    read_all(&[file(name, text)]).unwrap_err().to_string()
}

fn seated(seats: &ImportedSeats) -> Vec<[&str; 3]> {
    let seats = seats.seats.iter();
    seats
        .map(|seat| {
            let lists = [&seat.cpus, &seat.nodes].map(|list| list.as_deref().unwrap_or(""));
            [seat.service.name.as_str(), lists[0], lists[1]]
        })
        .collect()
}

const UID: &str = "235148fe-393f-47a8-a17d-bd55bc1a836b";

fn cpu_state(entries: &str) -> String {
    format!(
        "{{\"policyName\":\"static\",\"defaultCpuSet\":\"0-1,8\",\"entries\":{entries},\
         \"checksum\":1552716370}}"
    )
}

#[test]
fn pod_gets_container_cpus_and_memory_nodes() {
    let cpus = cpu_state(&format!("{{\"{UID}\":{{\"api\":\"2-3\",\"sidecar\":\"4\"}}}}"));
    let memory = format!(
        "{{\"policyName\":\"Static\",\"machineState\":{{\"0\":{{}}}},\"entries\":{{\"{UID}\":\
         {{\"api\":[{{\"numaAffinity\":[1],\"type\":\"memory\",\"size\":1073741824}}]}}}},\
         \"checksum\":4236770233}}"
    );
    let files = [file("cpu_manager_state", &cpus), file("memory_manager_state", &memory)];
    let seats = read_all(&files).unwrap();
    assert_eq!(seated(&seats), [["pod-235148fe", "2-4", "1"]]);
    let service = &seats.seats[0].service;
    assert!(service.is_alone());
    let group = service.cgroup.as_deref().unwrap();
    assert_eq!(group, "/kubepods.slice/kubepods-pod235148fe_393f_47a8_a17d_bd55bc1a836b.slice");
    assert_eq!(seats.seats[0].details, ["container api on 2-3", "container sidecar on 4"]);
    assert_eq!(seats.remarks, [ImportRemark::SharedPool { cpus: "0,1,8".into() }]);
    let plain = read(&files, Vec::new(), None, CgroupDriver::Cgroupfs).unwrap();
    assert_eq!(plain.seats[0].service.cgroup.as_deref().unwrap(), format!("/kubepods/pod{UID}"));
}

/// Newer releases also give CPUs to whole pods.
#[test]
fn unknown_state_keys_are_reported() {
    let text = cpu_state(&format!("{{\"{UID}\":{{\"api\":\"2\"}}}},\"nodeEntries\":{{}}"));
    let seats = read_one("cpu_manager_state", &text);
    let keys = vec!["nodeEntries".to_owned()];
    let told = ImportRemark::UnreadKeys { file: "cpu_manager_state".to_owned(), keys };
    assert!(seats.remarks.contains(&told), "{:?}", seats.remarks);
}

#[test]
fn pod_level_resources_set_cpus_and_nodes() {
    let pods = format!("{{\"{UID}\":{{\"cpuSet\":\"2-5\"}}}}");
    let cpus = cpu_state(&format!("{{\"{UID}\":{{\"api\":\"2-3\"}}}},\"podEntries\":{pods}"));
    let blocks = "{\"memoryBlocks\":[{\"numaAffinity\":[1],\"type\":\"memory\",\"size\":1}]}";
    let memory = format!(
        "{{\"policyName\":\"Static\",\"machineState\":{{}},\
         \"podEntries\":{{\"{UID}\":{blocks}}},\"checksum\":1}}"
    );
    let files = [file("cpu_manager_state", &cpus), file("memory_manager_state", &memory)];
    let seats = read_all(&files).unwrap();
    assert_eq!(seated(&seats), [["pod-235148fe", "2-5", "1"]]);
    let wrong = cpus.replace("2-5", "2-x");
    assert!(refused("s", &wrong).starts_with(&format!("s: podEntries.{UID}: '2-x' is not")));
}

#[test]
fn embedded_state_data_overrides_outer_entries() {
    let inner = cpu_state(&format!("{{\"{UID}\":{{\"api\":\"6-7\"}}}}"));
    let data = serde_json::to_string(&inner).unwrap();
    let outer = cpu_state(&format!("{{}},\"data\":{data},\"dataChecksum\":7"));
    let seats = read_one("s", &outer);
    assert_eq!(seated(&seats), [["pod-235148fe", "6,7", ""]]);
    assert!(
        !seats.remarks.iter().any(|one| matches!(one, ImportRemark::UnreadKeys { .. })),
        "{:?}",
        seats.remarks
    );
    assert!(refused("s", &outer.replace("policyName\\", "x\\")).contains("policyName"));
}

#[test]
fn empty_or_damaged_states_are_rejected() {
    let none = "{\"policyName\":\"none\",\"defaultCpuSet\":\"\",\"checksum\":3242152201}";
    assert_eq!(refused("s", none), "no service has CPUs or memory nodes in these files");
    assert!(refused("s", "{\"policyName\":\"static\"}").contains("defaultCpuSet or machineState"));
    assert_eq!(refused("s", "{\"policyName\":"), "s: line 1, column 14: EOF while parsing a value");
    assert!(refused("s", "{\"policyName\":x}").starts_with("s: line 1, column "));
    let old = cpu_state("{\"0123456789ab\":\"2-3\"}");
    assert!(refused("s", &old).contains("before 1.18"));
    let wrong = cpu_state(&format!("{{\"{UID}\":{{\"api\":\"2-x\"}}}}"));
    assert_eq!(
        refused("s", &wrong),
        format!("s: entries.{UID}.api: '2-x' is not a list of CPUs or nodes, such as 0-3,8")
    );
    let path = cpu_state("{\"../../etc\":{\"api\":\"2\"}}");
    assert!(refused("s", &path).contains("'../../etc' is not the UID of a pod"));
}

#[test]
fn kubelet_config_sets_housekeeping_cpus() {
    let text = "kind: KubeletConfiguration\nreservedSystemCPUs: \"0-1\" # for the system\n";
    assert_eq!(
        refused("kubelet.yaml", text),
        "no service has CPUs or memory nodes in these files; they reserve CPUs 0,1: write \
         housekeeping = \"0,1\" in \
         services.toml"
    );
    let json = "{\"kind\":\"KubeletConfiguration\",\"reservedSystemCPUs\":\"0-1\"}";
    let unit = "[Service]\nAllowedCPUs=1-2\n";
    for config in [text, json] {
        let files = [file("kubelet", config), file("a.service", unit)];
        let seats = read_all(&files).unwrap();
        assert_eq!(seats.housekeeping.as_deref(), Some("0"));
    }
}

#[test]
fn unit_settings_merge_files_drop_ins_and_slices() {
    let unit = "[Unit]\nAllowedCPUs=99\n# a comment \\\n[Service]\nCPUAffinity=0-3\nCPUAffinity=8\n\
                Slice=a-b.slice\nNUMAPolicy=bind\nNUMAMask=0 \\\n 1\n";
    let drop_in = "[Service]\nCPUAffinity=\nCPUAffinity=4-7\n";
    let slice = "[Slice]\nAllowedCPUs=2-6\nAllowedMemoryNodes=1\n";
    let files = [
        file("/etc/systemd/system/db.service", unit),
        file("/etc/systemd/system/db.service.d/50.conf", drop_in),
        file("/etc/systemd/system/a.slice", slice),
    ];
    let seats = read_all(&files).unwrap();
    assert_eq!(seated(&seats), [["db", "4-6", "0,1"]]);
    assert_eq!(seats.seats[0].sources.len(), 2);
    let alone = read_all(&files[2..]).unwrap();
    assert_eq!(seated(&alone), [["a", "2-6", "1"]]);
}

#[test]
fn systemctl_show_output_gives_effective_settings() {
    let text = "Id=redis.service\nSlice=system.slice\nAllowedCPUs=1-2 9\nCPUAffinity=\n\
                NUMAPolicy=n/a\n\nId=cron.service\nAllowedCPUs=\n\n\
                Id=batch.service\nCPUAffinity=4 5\nCPUSetPartition=root\n";
    let seats = read_one("-", text);
    assert_eq!(seated(&seats), [["batch", "4,5", ""], ["redis", "1,2,9", ""]]);
    assert!(seats.seats[0].service.is_alone());
    assert!(refused("-", "AllowedCPUs=1-2\n").contains("the unit of these settings is unknown"));
}

#[test]
fn contradictory_unit_settings_are_reported() {
    let outside = read_one("a.service", "[Service]\nCPUAffinity=0\nAllowedCPUs=4-5\n");
    assert_eq!(seated(&outside), [["a", "4,5", ""]]);
    assert!(matches!(&outside.remarks[..], [ImportRemark::AffinityOutside { .. }]));
    let with_other = |name: &str, text: &str| {
        let other = file("b.service", "[Service]\nCPUAffinity=0\n");
        read_all(&[file(name, text), other]).unwrap().remarks
    };
    for (name, setting, kind) in [
        ("a@.service", "CPUAffinity=0", "ManyUnits"),
        ("service.d/x.conf", "CPUAffinity=0", "ManyUnits"),
        ("a.service", "CPUAffinity=numa", "CpusOfNodes"),
        ("a.service", "Nice=1", "NothingToSeat"),
        ("a.service", "CPUAffinity=%H", "UnreadSetting"),
        ("a.service", "CPUAffinity=9-1", "ReversedRange"),
    ] {
        let [remark] = &with_other(name, &format!("[Service]\n{setting}\n"))[..] else {
            panic!("{name}: {setting}");
        };
        assert!(format!("{remark:?}").starts_with(kind), "{remark:?}");
    }
    assert!(refused("a.service", "[Service]\nCPUAffinity=9-1\n").contains("CPUAffinity= of a"));
    assert!(refused("x.conf", "[Service]\nCPUAffinity=1\n").contains("NAME.service.d/FILE.conf"));
}

#[test]
fn cpu_affinity_expands_specifiers_and_drops_reversed_ranges() {
    let of = |name: &str, list: &str| {
        let seats = read_one(name, &format!("[Service]\nCPUAffinity={list}\n"));
        seats.seats[0].cpus.clone().unwrap()
    };
    assert_eq!(of("watch@2.service", "%i"), "2");
    assert_eq!(of("watch@2.service", "0,%i 4-5"), "0,2,4,5");
    assert_eq!(of("a.service", "1 4-3"), "1", "it warns of a reversed range, and leaves it out");
}

#[test]
fn unreadable_file_in_folder_hides_no_other() {
    let from_folder = |name, text| SourceFile { is_from_folder: true, ..file(name, text) };
    let two = domain("<vcpu cpuset='1'>1</vcpu>");
    let other = domain("<vcpu cpuset='2'>1</vcpu>");
    let state = cpu_state(&format!("{{\"{UID}\":{{\"api\":\"2-x\"}}}}"));
    let files = [
        from_folder("cpu_manager_state", &state),
        from_folder("a.xml", &two),
        from_folder("b.xml", &other),
        from_folder("c.xml", "<domain"),
    ];
    let seats = read_all(&files).unwrap();
    assert_eq!(seated(&seats), [["web", "1", ""]]);
    let unread = seats.remarks.iter().filter_map(|remark| match remark {
        ImportRemark::UnreadFile { file, .. } => Some(file.as_str()),
        _ => None,
    });
    assert!(unread.eq(["cpu_manager_state", "b.xml", "c.xml"]), "{:?}", seats.remarks);
    let told = read_all(&files[..1]).unwrap_err().to_string();
    assert!(told.contains("not all are readable: cpu_manager_state: entries."), "{told}");
}

#[test]
fn shared_pool_overlapping_pod_cpus_is_a_claim() {
    let state = cpu_state(&format!("{{\"{UID}\":{{\"api\":\"1-2\"}}}}"));
    let seats = read_one("state", &state);
    assert_eq!(seats.claims(), 1, "the pool is 0-1,8");
}

fn domain(inside: &str) -> String {
    format!("<domain type='kvm'><name>web</name>{inside}</domain>")
}

#[test]
fn libvirt_domain_gets_vcpu_and_emulator_cpus() {
    let pinned = domain(
        "<vcpu placement='static' cpuset='0-3,^2'>4</vcpu><cputune><vcpupin vcpu='0' \
         cpuset='8'/><iothreadpin iothread='1' cpuset='9'/><emulatorpin cpuset='10'/></cputune>\
         <numatune><memory mode='strict' nodeset='1'/></numatune>",
    );
    let seats = read_one("web.xml", &pinned);
    assert_eq!(seated(&seats), [["web", "0,1,3,8-10", "1"]]);
    assert_eq!(seats.seats[0].details, ["vCPU 0 on 8", "I/O thread 1 on 9"]);
    assert_eq!(seats.seats[0].service.target().unwrap().to_string(), "domain web");
    let running = format!("<domstatus state='running'>{pinned}</domstatus>");
    assert_eq!(seated(&read_one("web.xml", &running)), seated(&seats));
    let escaped = "<domain><name>r&amp;d &#x3c;</name><vcpu cpuset='0'>1</vcpu></domain>";
    assert_eq!(seated(&read_one("w", escaped)), [["r&d <", "0", ""]]);
}

#[test]
fn partly_pinned_domains_are_reported() {
    let remarks = |inside: &str| read_one("w", &domain(inside)).remarks;
    let pins = "<vcpu>2</vcpu><cputune><vcpupin vcpu='0' cpuset='8'/></cputune>";
    let name = || "web".to_owned();
    let partly = ImportRemark::PartlyPinned { domain: name(), pinned: 1, vcpus: 2 };
    assert_eq!(remarks(pins), [partly]);
    let anywhere = ImportRemark::EmulatorAnywhere { domain: name() };
    assert_eq!(remarks(&pins.replace(">2<", ">1<")), [anywhere]);
    let auto = ImportRemark::AutoPlacement { domain: name() };
    assert_eq!(remarks("<vcpu placement='auto'>2</vcpu>"), [auto]);
}

#[test]
fn invalid_xml_is_rejected_with_position() {
    assert!(refused("w", "<domain><name>web</name>").contains("line 1, column 25"));
    assert!(refused("w", "<domain>\n<a></b></domain>").starts_with("w: line 2"));
    assert!(refused("w", "<domain></domain>").contains("no <name>"));
    let unknown = "<domain><name>a&unknown;</name></domain>";
    assert!(refused("w", unknown).contains("unknown XML entity"));
    let list = domain("<vcpu cpuset='0-3;8'>1</vcpu>");
    assert!(refused("w", &list).contains("cpuset of <vcpu>: '0-3;8' is not a list"));
    let deep = format!("<domain>{}", "<a>".repeat(100));
    assert!(refused("w", &deep).contains("nested too deep"));
}

#[test]
fn contradictory_files_are_rejected_and_overlaps_reported() {
    let one = domain("<vcpu cpuset='1'>1</vcpu>");
    let other = domain("<vcpu cpuset='2'>1</vcpu>");
    let files = [file("a.xml", &one), file("b.xml", &other)];
    assert_eq!(
        read_all(&files).unwrap_err().to_string(),
        "b.xml: 'web' has CPUs 1 in a.xml and 2 in b.xml; read one of them"
    );
    let state = cpu_state(&format!("{{\"{UID}\":{{\"api\":\"1-2\"}}}}"));
    let files = [file("a.xml", &one), file("state", &state)];
    let seats = read_all(&files).unwrap();
    assert_eq!(seats.claims(), 2, "the domain and the pool of other pods");
    let unit = "[Service]\nAllowedCPUs=0-1\n";
    let files = [file("a.xml", &one), file("a.service", unit)];
    let seats = read_all(&files).unwrap();
    assert_eq!((seats.claims(), seats.remarks.len()), (0, 1));
}

#[test]
fn requested_format_rejects_other_files() {
    assert!(refused("x", "hello").contains("unrecognised format; expected one of"));
    let unit = file("a.service", "[Service]\nAllowedCPUs=1\n");
    let wanted = Some(SeatsFormat::Libvirt);
    let found = SourceFile { is_from_folder: true, ..unit };
    for (file, expected) in [
        (unit, "a.service: this is not a file of libvirt"),
        (found, "no service has CPUs or memory nodes in these files"),
    ] {
        let refused = read(&[file], Vec::new(), wanted, CgroupDriver::Systemd).unwrap_err();
        assert_eq!(refused.to_string(), expected);
    }
}

fn machine(cpus: u32) -> Profile {
    crate::plan::tests::machine(cpus, 1, cpus, 1)
}

#[test]
fn imported_seats_round_trip_as_plan_and_file() {
    let text = "Id=redis.service\nAllowedCPUs=1-2\n\nId=web.service\nAllowedCPUs=1-2\n";
    let seats = read_one("shown", text);
    let plan = seats.plan(&machine(4)).unwrap();
    let json = seatmap_data::document::written(&plan);
    assert_eq!(ServicesPlan::from_json(&json).unwrap(), plan);
    assert_eq!((plan.services[0].pool, plan.services[1].pool, plan.cost), (0, 0, None));
    let first = seats.text(None).unwrap();
    assert!(first.contains("# CPUs 1,2 from shown\n"), "{first}");
    let known = ServicesFile::from_toml(&first).unwrap();
    assert_eq!(known.services.len(), 2);
    assert_eq!(seats.text(Some(&known)), None);
    let told = seats.plan(&machine(2)).unwrap_err().to_string();
    assert!(told.starts_with("CPUs 2 of 'redis' are not on test (CPUs 0,1)"), "{told}");
    let bare = read_one("w", &domain("<vcpu>2</vcpu>"));
    assert!(bare.plan(&machine(4)).unwrap_err().to_string().contains("name CPUs for none of"));
}

#[test]
fn exported_plan_is_imported_unchanged() {
    let text = "Id=redis.service\nAllowedCPUs=1-2\nAllowedMemoryNodes=0\n\n\
                Id=x.slice\nAllowedCPUs=3\n";
    let config = "kind: KubeletConfiguration\nreservedSystemCPUs: 0-3\n";
    let first = read_all(&[file("-", text), file("k", config)]).unwrap();
    assert_eq!(first.housekeeping.as_deref(), Some("0"));
    let plan = first.plan(&machine(8)).unwrap();
    let script = export::systemd(&plan).unwrap();
    let files = [file("units.sh", &script), file("k", config)];
    let again = read_all(&files).unwrap();
    assert_eq!(seated(&again), seated(&first));
    assert_eq!(again.housekeeping, first.housekeeping);
}

proptest! {
    /// Any bytes give an error, or a consistent file and plan.
    #[test]
    fn arbitrary_text_is_rejected_or_imported_consistently(
        begin in prop::sample::select(vec![
            "", "{\"policyName\":\"static\",\"defaultCpuSet\":\"", "[Service]\nAllowedCPUs=",
            "Id=a.service\nAllowedCPUs=", "<domain><name>a</name><vcpu cpuset='",
            "kind: KubeletConfiguration\nreservedSystemCPUs: ",
            "#!/bin/sh\n# Seatmap plan:\ncat > \"$folder/a.service.d/x\" <<'END'\n",
        ]),
        text in "[ -~\n]{0,60}",
    ) {
        hold(&format!("{begin}{text}"));
    }
}

fn hold(text: &str) {
    let Ok(seats) = read_all(&[file("a.service", text)]) else {
        return;
    };
    let written = seats.text(None).unwrap();
    let file =
        ServicesFile::from_toml(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(file.services.len(), seats.seats.len());
    if let Ok(plan) = seats.plan(&machine(64)) {
        assert_eq!(ServicesPlan::from_json(&seatmap_data::document::written(&plan)).unwrap(), plan);
    }
}
