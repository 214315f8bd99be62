//! The compiler driver: keywords and instructions of the Cell's compilers, names on the path, and
//! Makefiles.

use crate::tool::Tool;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[test]
fn vector_keyword_needs_no_header() {
    let Some(tool) = Tool::with_cplusplus() else { return };
    let text = "struct four { __vector unsigned char bytes; __vector __bool int truth; };\n\
                int main(void) { return sizeof(struct four) == 32 ? 0 : 1; }\n";
    for (language, name) in [("ppu", "word.c"), ("ppu++", "word.cpp")] {
        tool.write(name, text);
        tool.cellcc(&[language, "-o", "program", name]).unwrap();
        tool.succeed(&tool.path("program"), &[]);
    }
    for (language, name) in [("spu", "word.c"), ("spu++", "word.cpp")] {
        tool.cellcc(&[language, "-c", "-o", "word.o", name]).unwrap();
    }
}

#[test]
fn time_base_is_read_by_register_number() {
    let Some(tool) = Tool::new() else { return };
    let text = r#"
#include <ppu_intrinsics.h>
int main(void)
{
    unsigned long long first, second;
    unsigned int upper, low, left = __mfdec();
    __asm__ volatile("mftb %0" : "=r"(first));
    __asm__ volatile("mftb %0, 268" : "=r"(second));
    __asm__ volatile("mftb %0, 269" : "=r"(upper));
    __asm__ volatile("mftbl %0" : "=r"(low));
    /* The decrementer counts down with it. */
    int is_less = (int)(left - __mfdec()) > 0 && __fre(4.0) == 0.25;
    return !(is_less && second >= first && upper == second >> 32 && low >= (unsigned int)first);
}
"#;
    tool.write("time.c", text);
    for level in ["-O0", "-O2"] {
        tool.cellcc(&["ppu", level, "-o", "program", "time.c", "-lsputimer"]).unwrap();
        tool.succeed(&tool.path("program"), &[]);
    }
}

#[test]
fn warnings_of_this_compiler_are_no_errors() {
    let Some(tool) = Tool::new() else { return };
    let home = tool.install();
    let text = "#include <length_vec3.h>\nint main(void) { int unused;\n\
                vector float sum = spu_add(spu_splats(1.0f), spu_splats(2.0f));\n\
                return spu_extract(sum, 0) != 3; }\n";
    let source = tool.write("warns.c", text);
    let mut command = Command::new(home.join("../../../bin/spu-gcc"));
    let arguments = ["-Wall", "-Werror", "-o", "warns", "/opt/cell/libmc_rand.a"];
    let built = command.args(arguments).arg(source).current_dir(tool.path("")).output().unwrap();
    assert!(built.status.success(), "{}", words(&built));
    assert!(words(&built).contains("unused"), "{}", words(&built));
}

#[test]
fn headers_have_the_names_of_the_sdk() {
    let Some(tool) = Tool::new() else { return };
    let home = tool.install();
    let text = "#include <reflect_vec3.h>\n#include <mutex.h>\n#include <libspe2.h>\n\
                #include <mpm_macros.h>\n\
                int main(void) { static int lock __attribute__((aligned(128)));\n\
                vec_float4 v = {1, -1, 0, 0}, n = {0, 1, 0, 0}, r = reflect_vec3(v, n);\n\
                mutex_ea_t m = (mutex_ea_t)(unsigned int)&lock; mutex_init(m); mutex_lock(m);\n\
                return !(r[0] == 1 && r[1] == 1 && lock != 0); }\n";
    let source = tool.write("names.c", text);
    let driver = home.join("../../../bin/ppu-gcc");
    let mut command = Command::new(driver);
    let built = command.args(["-o", "names"]).arg(source).current_dir(tool.path("")).output();
    let built = built.unwrap();
    assert!(built.status.success(), "{}", words(&built));
    tool.succeed(&tool.path("names"), &[]);
}

fn path_with(first: &Path) -> String {
    format!("{}:{}", first.display(), std::env::var("PATH").unwrap_or_default())
}

fn make(folder: PathBuf, arguments: &[&str], path: &str) -> Output {
    let mut command = Command::new("timeout");
    command.args(["60", "make", "-s"]).args(arguments).current_dir(folder).env("PATH", path);
    for name in ["MAKEFLAGS", "MAKELEVEL", "SEATMAP_CELLCC"] {
        command.env_remove(name);
    }
    command.output().unwrap()
}

const HOST: &str = "#include <libspe2.h>\nint main(void) { return spe_cpu_info_get(2, -1) < 1; }\n";

#[test]
fn ppe_makefile_may_call_gcc() {
    let Some(tool) = Tool::with_cplusplus() else { return };
    if !seatmap_needs::tool("make") {
        return;
    }
    let plain = tool.install().join("ppe");
    tool.write("host.c", HOST);
    tool.write("more.cc", HOST);
    tool.write(
        "Makefile",
        "all:\n\tgcc -o host host.c -lspe2\n\t./host\n\tg++ -o more more.cc -lspe2\n\t./more\n",
    );
    let made = make(tool.path(""), &[], &path_with(&plain));
    assert!(made.status.success(), "{}", words(&made));
}

#[test]
fn driver_never_calls_itself() {
    let Some(tool) = Tool::new() else { return };
    let home = tool.install();
    let driver = home.join("../../../bin/seatmap-cellcc").canonicalize().unwrap();
    let folder = tool.path("names");
    std::fs::create_dir(&folder).unwrap();
    for name in ["gcc", "ar", "ppu-ar", "ppu-gcc"] {
        symlink(&driver, folder.join(name)).unwrap();
    }
    tool.write("host.c", HOST);
    for arguments in [&["ppu-ar", "--version"][..], &["gcc", "-c", "-o", "host.o", "host.c"]] {
        let mut command = Command::new("timeout");
        command.arg("60").args(arguments).current_dir(tool.path(""));
        let ran = command.env("PATH", path_with(&folder)).output().unwrap();
        assert!(ran.status.success(), "{arguments:?}: {}", words(&ran));
    }
}

#[test]
fn sdk_folder_may_have_sources_elsewhere() {
    let Some(tool) = Tool::new() else { return };
    if !seatmap_needs::tool("make") {
        return;
    }
    let home = tool.install();
    let folder = tool.path("folder");
    for name in ["folder", "folder/one", "folder/two"] {
        std::fs::create_dir(tool.path(name)).unwrap();
    }
    tool.write(
        "folder/main.c",
        "int one(void), two(void);\nint main(void) { return one() + two() != 3; }\n",
    );
    tool.write("folder/one/one.c", "int one(void) { return 1; }\n");
    tool.write("folder/two/two.c", "int two(void) { return 2; }\n");
    let text = "PROGRAM_ppu = whole\nVPATH = one:two\ninclude $(CELL_TOP)/buildutils/make.footer\n";
    tool.write("folder/Makefile", text);
    let top = format!("CELL_TOP={}", home.display());
    let made = make(folder.clone(), &[&top], &std::env::var("PATH").unwrap_or_default());
    assert!(made.status.success(), "{}", words(&made));
    tool.succeed(&folder.join("whole"), &[]);
}
