//! `OMP_PLACES` with listed places (OpenMP 5.2, section 21.1.6): `{0,1},{2:4:2}`, `{0:4}:8:4`,
//! `!{3}`.

use seatmap_os::CpuSet;
use seatmap_os::cpu_list::MAX_CPU;

/// The most CPUs in all places, to limit the work.
const MOST_CPUS: usize = 1 << 16;

/// `None` for a word such as `cores`.
pub fn parse(text: &str) -> Option<Vec<CpuSet>> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let mut reader = Reader { rest: &text, room: MOST_CPUS };
    let mut places = Vec::new();
    loop {
        reader.places(&mut places)?;
        if !reader.takes(',') {
            break;
        }
    }
    reader.rest.is_empty().then_some(places)
}

struct Reader<'a> {
    rest: &'a str,
    room: usize,
}

impl Reader<'_> {
    /// A place, or several at equal distances: `{0,1}:4:2`. An exclamation mark removes them.
    fn places(&mut self, found: &mut Vec<CpuSet>) -> Option<()> {
        let is_removed = self.takes('!');
        let first = self.place()?;
        let (length, stride) = self.interval()?;
        for step in 0..length {
            let place = shifted(&first, step.checked_mul(stride)?)?;
            // An empty place costs one too, to limit the work.
            self.room = self.room.checked_sub(place.len().max(1))?;
            if is_removed { found.retain(|other| *other != place) } else { found.push(place) }
        }
        Some(())
    }

    /// CPUs in braces, or a single one.
    fn place(&mut self) -> Option<CpuSet> {
        if !self.takes('{') {
            return Some(CpuSet::single(cpu(self.number()?)?));
        }
        let mut place = CpuSet::default();
        loop {
            self.cpus(&mut place)?;
            if !self.takes(',') {
                break;
            }
        }
        self.takes('}').then_some(place)
    }

    /// A CPU, or several at equal distances: `2:4:1`.
    fn cpus(&mut self, place: &mut CpuSet) -> Option<()> {
        let is_removed = self.takes('!');
        let first = self.number()?;
        let (length, stride) = self.interval()?;
        self.room = self.room.checked_sub(usize::try_from(length).ok()?)?;
        for step in 0..length {
            let one = cpu(first.checked_add(step.checked_mul(stride)?)?)?;
            if is_removed {
                *place = place.without(&CpuSet::single(one))
            } else {
                place.insert(one)
            }
        }
        Some(())
    }

    /// `:LENGTH` or `:LENGTH:STRIDE`, both 1 by default.
    fn interval(&mut self) -> Option<(i64, i64)> {
        let length = if self.takes(':') { self.number()? } else { return Some((1, 1)) };
        let stride = if self.takes(':') { self.number()? } else { 1 };
        (1..=MOST_CPUS as i64).contains(&length).then_some((length, stride))
    }

    fn number(&mut self) -> Option<i64> {
        let digits_at = usize::from(self.rest.starts_with('-'));
        let digits = self.rest[digits_at..].bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.rest.split_at(digits_at + digits);
        self.rest = rest;
        number.parse().ok()
    }

    fn takes(&mut self, expected: char) -> bool {
        let behind = self.rest.strip_prefix(expected);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }
}

fn cpu(number: i64) -> Option<u32> {
    u32::try_from(number).ok().filter(|cpu| *cpu <= MAX_CPU)
}

fn shifted(place: &CpuSet, by: i64) -> Option<CpuSet> {
    place.iter().map(|one| cpu(i64::from(one).checked_add(by)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use seatmap_data::statistics::words::joined;

    fn places(text: &str) -> Option<String> {
        parse(text).map(|places| joined(&places, " "))
    }

    fn are(text: &str, wanted: &str) {
        assert_eq!(places(text).as_deref(), Some(wanted), "{text}");
    }

    #[test]
    fn listed_places_follow_openmp_standard() {
        are("{0,1},{2,3}", "0,1 2,3");
        are(" {0, 1} , {2:4:1} ", "0,1 2-5");
        are("{0:4}:3:4", "0-3 4-7 8-11");
        are("{0}:4", "0 1 2 3");
        are("{8:2:-2},{6}:3:-3", "6,8 6 3 0");
        are("0,2:2:2", "0 2 4");
        are("{0}:4,!{2},!{9}", "0 1 3");
        are("{0:4,!2}", "0,1,3");
    }

    #[test]
    fn abstract_or_invalid_places_name_no_cpus() {
        for text in [
            "cores",
            "threads(4)",
            "",
            "{",
            "{}",
            "{0",
            "{0},",
            "{0}x",
            "{0:0}",
            "{0:2:-1}",
            "{0}:2:-1",
            "{-1}",
            "!",
        ] {
            assert_eq!(places(text), None, "{text}");
        }
        assert_eq!(places("{0:60000},{0:60000}"), None);
        assert_eq!(places("{0}:9223372036854775807:9223372036854775807"), None);
    }

    proptest! {
        #[test]
        fn written_places_round_trip(cpus in prop::collection::vec(prop::collection::btree_set(0u32..500, 1..9), 1..20)) {
            let sets: Vec<CpuSet> = cpus.iter().map(|place| place.iter().copied().collect()).collect();
            let text = joined(sets.iter().map(|place| format!("{{{}}}", joined(place, ","))), ",");
            prop_assert_eq!(parse(&text), Some(sets));
        }
    }
}
