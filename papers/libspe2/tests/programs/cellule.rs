//! Cellule's programs compute the right results and print their measurements, in both styles of the
//! library.

use crate::tool::Tool;
use seatmap_experiments::cellule::libspe2::programs::{CompiledPrograms, PpeProgram};
use seatmap_experiments::cellule::libspe2::style::LibraryStyle;

#[test]
fn measured_programs_are_correct_in_both_styles() {
    let Some(tool) = Tool::new() else { return };
    let compiler = tool.install().join("../../../bin/seatmap-cellcc");
    let programs: [(PpeProgram, &[u32], &str, usize); 6] = [
        (PpeProgram::Calls, &[3, 2], "CtxRun", 3),
        (PpeProgram::Matrix, &[128, 2, 2, 3], "run", 3),
        (PpeProgram::BlackScholes, &[3, 2, 2, 3], "run", 3),
        (PpeProgram::Noise, &[5], "longest_ns", 1),
        (PpeProgram::Mailbox, &[2], "line", 2),
        (PpeProgram::Transfers, &[], "get_own 16384", 200),
    ];
    let built = CompiledPrograms::build(&compiler, &programs.map(|program| program.0)).unwrap();
    for (program, numbers, line, times) in programs {
        for style in [LibraryStyle::Cell, LibraryStyle::Linux] {
            // A wrong result is an error.
            let said = built.run(program, numbers, style, &[0]).unwrap();
            assert_eq!(said.all(line).len(), times, "{program:?} in the style {}", style.word());
        }
    }
}

#[test]
fn missing_compiler_error_says_how_to_install() {
    let error = CompiledPrograms::build("/no/such/cellcc".as_ref(), &[PpeProgram::Calls])
        .unwrap_err()
        .to_string();
    assert!(error.contains("/no/such/cellcc: it does not exist; 'make install-lib"), "{error}");
}
