//! The format of a file, recognised by its content.

/// The supported kinds of files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Format {
    /// `seatmap-profile` JSON.
    Profile,
    /// `seatmap-machine` TOML.
    Description,
    /// The matrix of core-to-core-latency, CSV.
    CoreToCore,
    /// An MCTOP machine description, `.mct`.
    Mctop,
    /// An hwloc topology, XML.
    HwlocXml,
}

impl Format {
    /// The kind of a text; the file's name only decides if the text is ambiguous.
    ///
    /// A file named `.csv` or `.toml` is read as that format, so the error has the position of its
    /// first mistake.
    pub fn recognise(text: &str, name: &str) -> Option<Self> {
        let text = text.trim_start();
        let first_line = text.lines().next().unwrap_or_default();
        match text.chars().next()? {
            '{' => Some(Format::Profile),
            '<' => Some(Format::HwlocXml),
            // Before the names of files: TOML and CSV have comments with the same start.
            '#' if first_line.contains("#HWCs") => Some(Format::Mctop),
            _ if name.to_ascii_lowercase().ends_with(".toml") || names_a_machine(text) => {
                Some(Format::Description)
            }
            _ if name.to_ascii_lowercase().ends_with(".csv") || is_matrix_row(first_line) => {
                Some(Format::CoreToCore)
            }
            _ => None,
        }
    }
}

fn names_a_machine(text: &str) -> bool {
    text.lines()
        .any(|line| line.trim_start().starts_with("format") && line.contains("seatmap-machine/"))
}

fn is_matrix_row(line: &str) -> bool {
    line.contains(',')
        && line.bytes().all(|byte| byte.is_ascii_digit() || b",.+-eE \t".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_the_format_first() {
        let recognised = |text| Format::recognise(text, "file.txt");
        assert_eq!(recognised(" {\"format\""), Some(Format::Profile));
        assert_eq!(recognised("<?xml version"), Some(Format::HwlocXml));
        assert_eq!(recognised("#lpd #HWCs 2 #Nodes 1 SMT 0\n"), Some(Format::Mctop));
        assert_eq!(
            recognised("# mine\nformat = \"seatmap-machine/1\"\n"),
            Some(Format::Description)
        );
        assert_eq!(recognised(",\n1.5,\n"), Some(Format::CoreToCore));
        assert_eq!(recognised("Num cores: 2\n"), None);
        assert_eq!(recognised(" \n"), None);
    }

    #[test]
    fn file_name_decides_if_content_does_not() {
        assert_eq!(Format::recognise("Num cores: 2\n", "x.CSV"), Some(Format::CoreToCore));
        assert_eq!(Format::recognise("# nothing yet\n", "x.toml"), Some(Format::Description));
    }
}
