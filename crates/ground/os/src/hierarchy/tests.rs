//! Groups of both versions, inside and outside namespaces.

use super::*;
use crate::root::tests::with_files;
use proptest::prelude::*;

fn computer(mounts: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
    with_files(&[files, &[("/proc/self/mountinfo", mounts)]].concat())
}

const V2: &str = "2 1 0:3 / /cg rw - cgroup2 cgroup2 rw\n";
const V1: &str = "2 1 0:3 /box /set rw - cgroup cgroup rw,cpuset\n3 1 0:4 /box /cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
    4 1 0:5 / /cg rw - cgroup2 cgroup2 rw\n";

#[test]
fn limits_come_from_the_group_and_its_ancestors() {
    let (_folder, root) = computer(
        V2,
        &[
            ("/cg/a/cpuset.cpus.effective", "0-3\n"),
            ("/cg/a/b/cpu.max", "150000 100000\n"),
            ("/cg/a/b/cpu.stat", "usage_usec 9\nnr_throttled 4\n"),
            ("/cg/a/cpu.max", "200000 100000\n"),
            ("/cg/a/cpu.stat", "nr_throttled 3\n"),
            ("/cg/a/b/c/cpu.max", "max 100000\n"),
        ],
    );
    let groups = Hierarchies::read(&root).groups(&root, 7, "0::/a/b/c\n");
    let limits = Hierarchies::limits(&root, &groups);
    assert_eq!(
        (limits.path.as_str(), limits.cpus.as_deref(), limits.nodes.as_deref()),
        ("/a/b/c", Some("0-3"), None)
    );
    assert_eq!((limits.quota_cpus(), limits.throttled()), (Some(1.5), Some(7)));
    let each: Vec<(&str, &str, f64)> = limits
        .quotas
        .iter()
        .map(|quota| (quota.group.as_str(), quota.file.as_str(), quota.cpus))
        .collect();
    assert_eq!(each, [("/a/b", "/cg/a/b/cpu.max", 1.5), ("/a", "/cg/a/cpu.max", 2.0)]);
    assert_eq!(groups.unseen(), None);
}

#[test]
fn v1_hierarchies_and_container_roots_are_resolved() {
    let (_folder, root) = computer(
        V1,
        &[
            ("/set/in/cpuset.effective_cpus", "1"),
            ("/set/in/cpuset.mems", "0"),
            ("/cpu/other/cpu.cfs_quota_us", "50000"),
            ("/cpu/other/cpu.cfs_period_us", "100000"),
            ("/cpu/cpu.cfs_quota_us", "-1"),
            ("/cpu/cpu.cfs_period_us", "100000"),
        ],
    );
    let hierarchies = Hierarchies::read(&root);
    let groups = hierarchies.groups(&root, 7, "9:cpuset:/box/in\n8:cpu,cpuacct:/box/other\n0::/\n");
    assert!(
        groups.unseen().is_some_and(|why| why.contains("above the one mounted at /cpu")),
        "{groups:?}"
    );
    let limits = Hierarchies::limits(&root, &groups);
    assert_eq!(
        (limits.cpus.as_deref(), limits.nodes.as_deref(), limits.path.as_str()),
        (Some("1"), Some("0"), "/in")
    );
    assert_eq!((limits.quota_cpus(), limits.throttled()), (Some(0.5), None));
    assert_eq!(limits.quotas[0].file, "/cpu/other/cpu.cfs_quota_us");
    let outside = hierarchies.groups(&root, 7, "9:cpuset:/../x\n8:cpu,cpuacct:/boxes\n");
    assert!(
        outside.is_empty() && outside.unseen().is_some_and(|why| why.contains("/boxes")),
        "{outside:?}"
    );
    assert_eq!(
        Hierarchies::limits(&root, &outside),
        Limits { path: "/".into(), ..Limits::default() }
    );
}

#[test]
fn groups_are_found_by_path_and_walked() {
    let files = [
        ("/cg/cgroup.procs", "1\n"),
        ("/cg/a/cgroup.procs", "7\n9\n"),
        ("/cg/a/b.service/cgroup.procs", "8\n"),
    ];
    let (_folder, root) = computer(V2, &files);
    let hierarchies = Hierarchies::read(&root);
    for path in ["a", "/a", "/cg/a", "/cg/a/"] {
        assert_eq!(hierarchies.folders(&root, path), ["/cg/a"], "{path}");
    }
    assert_eq!(
        (hierarchies.folders(&root, "/"), hierarchies.folders(&root, "none").len()),
        (vec!["/cg".into()], 0)
    );
    assert_eq!(
        hierarchies.all(&root).unwrap(),
        ["/cg", "/cg/a", "/cg/a/b.service"].map(PathBuf::from)
    );
    assert_eq!(
        (
            members_below(&root, Path::new("/cg/a")).unwrap(),
            members_below(&root, Path::new("/none")).unwrap().len()
        ),
        (vec![7, 8, 9], 0)
    );
}

/// Otherwise its members and limits would be missed.
#[test]
fn non_utf8_group_is_included() {
    use std::os::unix::ffi::OsStringExt;
    let (_folder, root) = computer(V2, &[("/cg/a/cgroup.procs", "7\n")]);
    let name = std::ffi::OsString::from_vec(vec![0xff]);
    let odd = root.path("/cg/a").join(&name);
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join("cgroup.procs"), "8\n").unwrap();
    assert_eq!(members_below(&root, Path::new("/cg/a")).unwrap(), [7, 8]);
    let hierarchies = Hierarchies::read(&root);
    assert!(hierarchies.all(&root).unwrap().contains(&Path::new("/cg/a").join(name)));
    // A thread's own line is read as text, with replacement characters.
    let line = String::from_utf8_lossy(b"0::/a/\xff\n").into_owned();
    let groups = hierarchies.groups(&root, 8, &line);
    assert!(groups.unseen().is_some_and(|why| why.contains("is not UTF-8")), "{groups:?}");
}

#[test]
fn own_process_has_groups() {
    let root = Root::new("/");
    let own = std::process::id().cast_signed();
    let hierarchies = Hierarchies::read(&root);
    if hierarchies.mounted.is_empty() {
        return seatmap_needs::skipped!("no control groups are mounted");
    }
    let groups = hierarchies.groups(&root, own, &root.read("/proc/self/cgroup").unwrap());
    assert!(Hierarchies::limits(&root, &groups).path.starts_with('/'));
}

/// `unshare -C`, or `docker run -v /sys/fs/cgroup`: the mount starts above the namespace.
#[test]
fn namespace_below_an_outer_mount_is_searched() {
    let mounts = "2 1 0:3 /../.. /cpu rw - cgroup cgroup rw,cpu\n";
    let files = [
        ("/cpu/release_agent", ""),
        ("/cpu/a/tasks", "1\n"),
        ("/cpu/a/b/tasks", "7\n8\n"),
        ("/cpu/a/b/in/tasks", "9\n"),
        ("/cpu/a/cpu.cfs_quota_us", "2000"),
        ("/cpu/a/cpu.cfs_period_us", "100000"),
        ("/cpu/other/b/tasks", "5\n"),
    ];
    let (_folder, root) = computer(mounts, &files);
    let hierarchies = Hierarchies::read(&root);
    let found = |tid, path: &str| {
        let groups = hierarchies.groups(&root, tid, &format!("1:cpu:{path}\n0::/\n"));
        let quotas = Hierarchies::limits(&root, &groups).quotas;
        (
            groups.time.map(|found| found.folder()),
            groups.unseen,
            quotas.first().map(|quota| quota.cpus),
        )
    };
    let here = |path: &str, cpus| (Some(path.to_owned()), None, cpus);
    assert_eq!(found(8, "/"), here("/cpu/a/b", Some(0.02)));
    assert_eq!(found(9, "/in"), here("/cpu/a/b/in", Some(0.02)));
    assert_eq!(found(5, "/../../other/b"), here("/cpu/other/b", None));
    assert_eq!(found(1, "/.."), here("/cpu/a", Some(0.02)));
    let (folder, unseen, _) = found(4711, "/");
    assert!(
        folder.is_none() && unseen.is_some_and(|why| why.contains("outside the mounted hierarchy"))
    );
}

#[test]
fn unmounted_hierarchy_hides_limits_except_at_its_root() {
    let unseen = |namespace: Option<&str>, membership: &str| {
        let (_folder, root) = computer("", &[("/proc/self/ns/pid", "")]);
        if let Some(namespace) = namespace {
            std::os::unix::fs::symlink(namespace, root.path("/proc/self/ns/cgroup")).unwrap();
        }
        Hierarchies::read(&root).groups(&root, 7, membership).unseen().map(str::to_owned)
    };
    assert_eq!(unseen(Some(FIRST_NAMESPACE), "3:cpu:/\n"), None);
    assert!(
        unseen(Some("cgroup:[4026532000]"), "0::/\n")
            .is_some_and(|why| why.contains("is not mounted"))
    );
    assert!(unseen(None, "3:cpu,cpuacct:/box\n").is_some_and(|why| why.contains("group /box")));
    assert_eq!(unseen(None, ""), None, "a kernel without control groups");
}

#[test]
fn v2_namespace_hides_groups_above() {
    let files = [
        ("/cg/cgroup.events", ""),
        ("/cg/cpu.max", "50000 100000"),
        ("/cg/cpu.stat", "nr_throttled 1"),
    ];
    let (_folder, root) = computer("2 1 0:3 / /cg ro - cgroup2 none rw\n", &files);
    let groups = Hierarchies::read(&root).groups(&root, 7, "0::/\n");
    let limits = Hierarchies::limits(&root, &groups);
    assert!(groups.unseen().is_some() && limits.quotas[0].is_read_only, "{limits:?}");
    assert_eq!((limits.quotas[0].group.as_str(), limits.quota_cpus()), ("/", Some(0.5)));
}

proptest! {
    #[test]
    fn parser_survives_any_membership(text: String, path: String) {
        let (_folder, root) = computer(V1, &[]);
        let hierarchies = Hierarchies::read(&root);
        let _ = Hierarchies::limits(&root, &hierarchies.groups(&root, 7, &format!("9:cpuset:{path}\n{text}")));
    }
}

#[test]
fn threads_in_another_group_are_excluded() {
    let files = [("/set/in/tasks", "7\n8\n"), ("/cpu/other/tasks", "7\n8\n9\n")];
    let (_folder, root) = computer(V1, &files);
    let groups = Hierarchies::read(&root).groups(
        &root,
        7,
        "9:cpuset:/box/in\n8:cpu,cpuacct:/box/other\n0::/\n",
    );
    assert_eq!(groups.threads(&root), Some(vec![7, 8]));
}

#[test]
fn tightest_real_time_limit_is_found_unless_lifted() {
    let all = "/proc/sys/kernel/sched_rt_runtime_us";
    let files = [
        (all, "950000\n"),
        ("/proc/sys/kernel/sched_rt_period_us", "1000000\n"),
        ("/cpu/in/cpu.rt_runtime_us", "200000\n"),
        ("/cpu/in/cpu.rt_period_us", "1000000\n"),
        ("/cpu/cpu.rt_runtime_us", "950000\n"),
        ("/cpu/cpu.rt_period_us", "1000000\n"),
        ("/cpu/none/cpu.rt_runtime_us", "0\n"),
        ("/cpu/none/cpu.rt_period_us", "1000000\n"),
    ];
    let (folder, root) = computer(V1, &files);
    let limit = |group: &str| {
        let groups =
            Hierarchies::read(&root).groups(&root, 7, &format!("8:cpu,cpuacct:/box/{group}\n"));
        Hierarchies::limits(&root, &groups).real_time
    };
    let of_group = limit("in").unwrap();
    assert_eq!(
        (of_group.kind, &*of_group.file),
        (BrakeKind::RealTime { percent: 20.0 }, "/cpu/in/cpu.rt_runtime_us")
    );
    assert_eq!(
        limit("none").unwrap().file,
        all,
        "members of a group with nothing have no such policy"
    );
    let command =
        of_group.release().replace("/proc/", &format!("{}/proc/", folder.path().display()));
    assert!(std::process::Command::new("sh").args(["-c", &command]).status().unwrap().success());
    assert_eq!((limit("in"), limit("none")), (None, None));
}

/// Either version can freeze a thread.
#[test]
fn frozen_group_is_found_at_each_level() {
    let mounts =
        "2 1 0:3 / /fz rw - cgroup cgroup rw,freezer\n3 1 0:4 / /cg rw - cgroup2 cgroup2 rw\n";
    let (_folder, root) = computer(
        mounts,
        &[
            ("/fz/a/freezer.self_freezing", "1\n"),
            ("/fz/a/b/freezer.self_freezing", "0\n"),
            ("/fz/a/b/freezer.state", "FROZEN\n"),
            ("/fz/a/b/tasks", "7\n8\n"),
            ("/cg/c/cgroup.freeze", "1\n"),
            ("/cg/c/cgroup.threads", "8\n9\n"),
        ],
    );
    let groups = Hierarchies::read(&root).groups(&root, 7, "3:freezer:/a/b\n0::/c\n");
    let frozen: Vec<(String, String)> = Hierarchies::limits(&root, &groups)
        .brakes
        .into_iter()
        .map(|brake| (brake.group.clone(), brake.release()))
        .collect();
    let each =
        [("/a", "echo THAWED > /fz/a/freezer.state"), ("/c", "echo 0 > /cg/c/cgroup.freeze")];
    assert_eq!(frozen, each.map(|(group, release)| (group.to_owned(), release.to_owned())));
    assert_eq!(groups.threads(&root), Some(vec![8]));
}
