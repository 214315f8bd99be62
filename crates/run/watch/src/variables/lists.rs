//! Lists and masks of CPUs in the notations of launchers and runtimes.

use seatmap_os::CpuSet;
use seatmap_os::cpu_list::MAX_CPU;

/// The most CPUs of one value, to limit the work.
const MOST_CPUS: usize = 1 << 16;

/// `0-3,8,10-14:2`.
pub fn list(text: &str) -> Option<Vec<u32>> {
    joined(text.split(','))
}

/// One place per CPU: `0,4-5`.
pub fn single(text: &str) -> Option<Vec<CpuSet>> {
    Some(list(text)?.into_iter().map(CpuSet::single).collect())
}

/// libgomp's list (manual, `GOMP_CPU_AFFINITY`), with spaces or commas and one place per CPU: `0 3
/// 1-2 4-15:2`.
pub fn gomp(text: &str) -> Option<Vec<CpuSet>> {
    let members = text.split([' ', ',', '\t']).filter(|member| !member.is_empty());
    Some(joined(members)?.into_iter().map(CpuSet::single).collect())
}

/// `0:1-3` of MVAPICH, `0-31|32-63` of vLLM.
pub fn divided(text: &str, separator: char) -> Option<Vec<CpuSet>> {
    let mut room = MOST_CPUS;
    text.split(separator)
        .map(|part| {
            let cpus = list(part)?;
            room = room.checked_sub(cpus.len())?;
            Some(cpus.into_iter().collect())
        })
        .collect()
}

/// The places of `proclist=[3,{0,1},4-6]` in `KMP_AFFINITY` (LLVM's OpenMP runtime): one per CPU or
/// pair of braces.
pub fn kmp(text: &str) -> Option<Vec<CpuSet>> {
    let (_, rest) = text.split_once("proclist=[")?;
    let mut rest = rest.split_once(']')?.0;
    let mut places = Vec::new();
    while !rest.is_empty() {
        let (member, behind) = match rest.strip_prefix('{') {
            Some(inner) => inner.split_once('}')?,
            None => rest.split_at(rest.find(',').unwrap_or(rest.len())),
        };
        if rest.starts_with('{') {
            places.push(list(member)?.into_iter().collect())
        } else {
            places.extend(single(member)?)
        }
        if places.len() > MOST_CPUS {
            return None;
        }
        rest = behind.strip_prefix(',').unwrap_or(behind);
    }
    Some(places)
}

/// Slurm's binding (srun(1), `--cpu-bind`): words between commas, the last one with a list.
pub fn slurm(text: &str) -> Option<Vec<CpuSet>> {
    match (text.split_once("map_cpu:"), text.split_once("mask_cpu:")) {
        (Some((_, list)), _) => maps(list),
        (None, Some((_, list))) => masks(list),
        (None, None) => None,
    }
}

/// One CPU per task: `0,3*2,0x4`.
pub fn maps(text: &str) -> Option<Vec<CpuSet>> {
    repeated(text, |cpu| {
        let number = match cpu.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => cpu.parse().ok(),
        };
        number.filter(|cpu| *cpu <= MAX_CPU).map(CpuSet::single)
    })
}

/// One hexadecimal mask per task: `0x3,0xc*2`.
pub fn masks(text: &str) -> Option<Vec<CpuSet>> {
    repeated(text, CpuSet::of_mask)
}

/// Members between commas; `*N` repeats a member N times.
fn repeated(text: &str, read: impl Fn(&str) -> Option<CpuSet>) -> Option<Vec<CpuSet>> {
    let mut places = Vec::new();
    for member in text.split(',').map(str::trim) {
        let (member, times) = member.split_once('*').unwrap_or((member, "1"));
        let times = times
            .parse::<usize>()
            .ok()
            .filter(|times| places.len().saturating_add(*times) <= MOST_CPUS)?;
        places.extend(std::iter::repeat_n(read(member)?, times));
    }
    Some(places)
}

fn joined<'a>(members: impl Iterator<Item = &'a str>) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for member in members {
        let (range, stride) = member.trim().split_once(':').unwrap_or((member.trim(), "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let first = number(first)?;
        let last = number(last)?;
        let stride = number(stride).filter(|stride| *stride > 0)?;
        // One more than allowed, so that the check below sees it.
        cpus.extend((first..=last).step_by(stride as usize).take(MOST_CPUS + 1));
        if cpus.len() > MOST_CPUS || last < first {
            return None;
        }
    }
    Some(cpus)
}

fn number(text: &str) -> Option<u32> {
    text.trim().parse().ok().filter(|cpu| *cpu <= MAX_CPU)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_cpu_lists_are_rejected() {
        for text in ["", "x", "3-1", "1,,2", "0-3:0", "-1", "9999999"] {
            assert_eq!(list(text), None, "{text}");
        }
        assert_eq!(list(" 0-3, 8"), Some(vec![0, 1, 2, 3, 8]));
        for text in ["proclist=[0,{1", "proclist=[0", "proclist=[{}]", "compact"] {
            assert_eq!(kmp(text), None, "{text}");
        }
        assert_eq!((maps("0*x"), masks("0x1,zz"), slurm("none")), (None, None, None));
    }
}
