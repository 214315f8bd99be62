//! Unsupported outputs of other tools, recognised by their start, each with the way to a supported
//! format.

use super::MachineImportError;

const TOPOLOGY: &str = "run 'lstopo --of xml FILE.xml' (Debian package hwloc) on the same machine \
                        and import that file";
const MEMORY: &str =
    "it has memory latencies, not core distances; 'seatmap measure' measures those";

/// The start of an output, its name, and the remedy.
const OUTPUTS: [(&str, &str, &str); 11] = [
    ("available: ", "the output of numactl --hardware", TOPOLOGY),
    ("# The following is the parsable format", "the output of lscpu --parse", TOPOLOGY),
    ("Architecture:", "the output of lscpu", TOPOLOGY),
    ("\"lscpu\"", "the output of lscpu --json", TOPOLOGY),
    ("\"cpus\"", "the output of lscpu --extended --json", TOPOLOGY),
    ("CPU NODE SOCKET", "the output of lscpu --extended", TOPOLOGY),
    ("Machine (", "the text output of lstopo", TOPOLOGY),
    ("Package:", "an hwloc synthetic topology", TOPOLOGY),
    ("Intel(R) Memory Latency Checker", "the output of Intel's mlc", MEMORY),
    (
        "--------------------------------------------------------------------------------\nCPU \
         name:",
        "the output of \
     likwid-topology",
        TOPOLOGY,
    ),
    ("processor\t:", "a copy of /proc/cpuinfo", TOPOLOGY),
];

/// Lines above an output: people copy it with the command, and tools print warnings first.
const MOST_ABOVE: usize = 4;

pub fn recognised(text: &str) -> Option<MachineImportError> {
    let mut start = text.trim_start().trim_start_matches('{').trim_start();
    for _ in 0..=MOST_ABOVE {
        let output = OUTPUTS.iter().find(|(begins, ..)| start.starts_with(begins));
        if let Some((_, format, remedy)) = output {
            return Some(MachineImportError::Foreign { format, remedy });
        }
        start = start.split_once('\n')?.1;
    }
    None
}

pub fn packed(bytes: &[u8]) -> Option<MachineImportError> {
    let (format, remedy) = crate::document::packed(bytes)?;
    Some(MachineImportError::Foreign { format, remedy })
}

#[cfg(test)]
mod tests {
    use crate::machine::import::read;

    #[test]
    fn outputs_of_other_tools_are_named_with_a_remedy() {
        let refused = [
            "available: 2 nodes (0-1)\nnode 0 cpus: 0 1\n",
            "# The following is the parsable format, which can be fed to other\n0,0,0,0\n",
            "Machine (16GB total)\n  Package L#0\n",
            "Intel(R) Memory Latency Checker - v3.9\n",
            "$ sudo mlc\n\nIntel(R) Memory Latency Checker - v3.11\n",
            "{\n   \"lscpu\": [\n      {\n",
            "{\"cpus\":[]}",
        ]
        .map(|text| read(text.as_bytes(), "x.csv", None).unwrap_err().to_string());
        insta::assert_snapshot!(refused.join("\n"));
    }

    #[test]
    fn compressed_file_error_explains_how_to_unpack() {
        let error = read(b"\x1f\x8b\x08\x00\xff", "x.xml", None).unwrap_err().to_string();
        assert_eq!(
            error,
            "this is a gzip file, which is not supported; unpack it: gunzip -c OLD > NEW"
        );
    }
}
