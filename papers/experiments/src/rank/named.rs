//! Well-known mappings.

use super::TaskMapping;

/// Each with its name. The gang order of Linux on the Cell
/// (`arch/powerpc/platforms/cell/spu_manage.c`: SPE 0, 2, 4, 6, 7, 5, 3, 1) puts neighbours of the
/// ring next to each other; Keller & Varbanescu 2010 name it and its reverse as the mappings "which
/// one would choose intuitively". Such a list can mean each thread's task, as in their notation, or
/// each task's seat; both are here.
///
/// | name | of eight tasks |
/// |---|---|
/// | `identity` | `[01234567]` |
/// | `ring`, `ring-seats` | `[02467531]` as tasks of threads, and as seats of tasks |
/// | `ring-back`, `ring-back-seats` | `[01357642]` likewise |
/// | `even-odd`, `even-odd-seats` | `[02461357]` likewise |
pub fn named(tasks: usize) -> Vec<(&'static str, TaskMapping)> {
    let all = 0..tasks as u8;
    let even = all.clone().filter(|task| task % 2 == 0);
    let odd = all.clone().filter(|task| task % 2 == 1);
    let ring: Vec<u8> = even.clone().chain(odd.clone().rev()).collect();
    let back: Vec<u8> = ring.iter().take(1).chain(ring.iter().skip(1).rev()).copied().collect();
    let lists = [
        ("identity", None, all.collect()),
        ("ring", Some("ring-seats"), ring),
        ("ring-back", Some("ring-back-seats"), back),
        ("even-odd", Some("even-odd-seats"), even.chain(odd).collect()),
    ];
    lists
        .into_iter()
        .flat_map(|(name, seats, list)| {
            let mapping = TaskMapping::new(list);
            let as_seats = seats.and_then(|name| Some((name, mapping.as_ref()?.inverse())));
            mapping.map(|mapping| (name, mapping)).into_iter().chain(as_seats)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(tasks: usize) -> Vec<String> {
        named(tasks).into_iter().map(|(name, mapping)| format!("{name} {mapping}")).collect()
    }

    #[test]
    fn named_mappings_match_the_paper() {
        assert_eq!(
            shown(6)[1..5],
            [
                "ring [024531]",
                "ring-seats [051423]",
                "ring-back [013542]",
                "ring-back-seats [015243]"
            ]
        );
        assert_eq!(shown(8)[1], "ring [02467531]");
        assert_eq!(shown(8)[3], "ring-back [01357642]");
        assert_eq!(shown(7)[5], "even-odd [0246135]");
        assert_eq!(
            shown(2),
            [
                "identity [01]",
                "ring [01]",
                "ring-seats [01]",
                "ring-back [01]",
                "ring-back-seats [01]",
                "even-odd [01]",
                "even-odd-seats [01]"
            ]
        );
    }

    #[test]
    fn reverse_ring_seats_mirror_ring_seats() {
        for tasks in 3..12 {
            let named = named(tasks);
            assert_eq!(named[2].1.mirrored(), named[4].1, "{tasks} tasks");
        }
    }
}
