//! Keywords, headers and customs of the Cell's compilers and of its first library.

use crate::passes;
use crate::tool::Tool;

#[test]
fn vectors_may_have_parentheses() {
    passes("literals");
}

#[test]
fn vectors_may_have_parentheses_in_cplusplus() {
    let Some(tool) = Tool::with_cplusplus() else { return };
    let source = tool.source("tests/programs/literals.cc");
    let source = source.to_str().unwrap();
    let own = tool.source("tests/programs");
    let own = own.to_str().unwrap();
    tool.cellcc(&["ppu++", "-Wall", "-I", own, "-o", "program", source]).unwrap();
    assert_eq!(tool.succeed(&tool.path("program"), &[]), "");
    // The same file, compiled for an SPU, is a context's program.
    let runner = tool.source("tests/programs/run_one.c");
    let program = tool.build_with(&tool.source("tests/programs/literals.cc"), &runner, &[]);
    assert_eq!(tool.succeed(&program, &[]), "");
}

#[test]
fn main_memory_pointers_work() {
    passes("main_memory");
}

#[test]
fn version_1_of_the_library_runs_threads() {
    passes("first");
}

#[test]
fn program_reads_time_base_frequency() {
    let Some(tool) = Tool::with_cplusplus() else { return };
    let source = tool.source("tests/programs/machine.cc");
    for level in ["-O0", "-O2"] {
        let arguments = ["ppu++", level, "-Wall", "-o", "program", source.to_str().unwrap()];
        tool.cellcc(&arguments).unwrap();
        for machine in ["host", "cell-ps3"] {
            assert_eq!(tool.succeed(&tool.path("program"), &[("SEATMAP_SPE", machine)]), "");
        }
    }
}

#[test]
fn libraries_link_functions_that_programs_declare() {
    let Some(tool) = Tool::new() else { return };
    let text = "extern void *malloc_align(unsigned long, unsigned int); extern void free_align(void *);\n\
        int main(void) { char *at = malloc_align(100, 7);\n\
        int off = (int)((unsigned long)at & 127); free_align(at); return off; }\n";
    tool.write("align.c", text);
    for language in ["spu", "ppu"] {
        tool.cellcc(&[language, "-o", "align", "align.c", "-lmisc"]).unwrap();
    }
    tool.succeed(&tool.path("align"), &[]);
}

/// C++ of the time puts the SDK's headers into `extern "C"`.
#[test]
fn headers_compile_inside_extern_c() {
    let Some(tool) = Tool::with_cplusplus() else { return };
    let common = [
        "libmisc.h",
        "libsync.h",
        "libvector.h",
        "simdmath.h",
        "vec_types.h",
        "libgmath.h",
        "libmatrix.h",
        "libfft.h",
        "libmpm.h",
        "mc_rand.h",
    ];
    let spu = ["spu_mfcio.h", "spu_timer.h", "vmx2spu.h"];
    let ppu = ["libspe.h", "cbe_mfc.h", "ppu_intrinsics.h", "altivec.h", "spu2vmx.h"];
    for (language, own) in [("spu++", &spu[..]), ("ppu++", &ppu[..])] {
        let lines = own.iter().chain(&common).map(|header| format!("#include <{header}>\n"));
        let headers: String = lines.collect();
        let text = format!(
            "extern \"C\" {{\n{headers}}}\n\
             int main() {{ vec_float4 v = spu_splats(2.0f); return (int)spu_extract(v, 0) - 2; }}\n"
        );
        tool.write("within.cpp", &text);
        tool.cellcc(&[language, "-o", "within", "within.cpp"]).unwrap();
    }
    tool.succeed(&tool.path("within"), &[]);
}
