//! Nested intrinsics: each argument appears once in an expansion, so that programs may nest them to
//! any depth.

use crate::tool::Tool;
use std::collections::BTreeMap;
use std::process::Command;

const DEPTH: usize = 8;
/// The compiler's limits of memory in KiB, and of time in seconds. A macro that repeats an argument
/// three times needs gigabytes.
const LIMITS: (u32, u32) = (1_500_000, 60);

fn macros(tool: &Tool, start: &str) -> BTreeMap<String, usize> {
    let folder = std::fs::read_dir(tool.source("include")).unwrap();
    let files = folder.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let headers = files.map(|path| std::fs::read_to_string(path).unwrap());
    let all: String = headers.collect();
    all.lines()
        .filter_map(|line| line.strip_prefix("#define ")?.split_once('('))
        .filter(|(name, _)| name.starts_with(start) && !name.contains(' '))
        .filter_map(|(name, rest)| {
            let arguments = rest.split_once(')')?.0;
            (!arguments.is_empty()).then(|| (name.to_owned(), arguments.split(',').count()))
        })
        .collect()
}

fn nested(name: &str, arguments: usize, place: usize, depth: usize) -> String {
    (0..depth).fold("x".to_owned(), |inner, _| {
        let all: Vec<&str> =
            (0..arguments).map(|at| if at == place { inner.as_str() } else { "y" }).collect();
        format!("{name}({})", all.join(", "))
    })
}

fn limited(tool: &Tool, arguments: &str) -> Vec<u8> {
    let driver = tool.source("cell/seatmap-cellcc");
    let script = format!(
        "ulimit -v {} -t {}; exec sh '{}' {arguments}",
        LIMITS.0,
        LIMITS.1,
        driver.display()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(tool.path("")).env("SEATMAP_CELL_LIB", tool.path(""));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn grows_with_the_depth(processor: &str, start: &str, header: &str, least: usize) {
    let Some(tool) = Tool::new() else { return };
    let macros = macros(&tool, start);
    assert!(macros.len() >= least, "{} macros", macros.len());
    let mut text = format!("#include <{header}>\n");
    for (name, arguments) in &macros {
        for place in 0..*arguments {
            for depth in [1, DEPTH] {
                let call = nested(name, *arguments, place, depth);
                text += &format!("@ {name} {place} {depth} = {call} @\n");
            }
        }
    }
    tool.write("nested.c", &text);
    let output = limited(&tool, &format!("{processor} -E -P nested.c"));
    let output = String::from_utf8(output).unwrap();
    let mut lengths = BTreeMap::new();
    for part in output.split('@').skip(1) {
        let Some((call, becomes)) = part.split_once('=') else { continue };
        let words: Vec<&str> = call.split_whitespace().collect();
        if let [name, place, depth] = words[..] {
            lengths.insert((name.to_owned(), place.to_owned(), depth.to_owned()), becomes.len());
        }
    }
    for ((name, place, depth), length) in lengths.iter().filter(|((_, _, depth), _)| depth != "1") {
        let one = lengths[&(name.clone(), place.clone(), "1".to_owned())];
        assert!(
            *length <= (DEPTH + 1) * one,
            "argument {place} of {name} at depth {depth}: {length} characters, one call has {one}"
        );
    }
    assert!(lengths.len() >= 2 * macros.len(), "{}", lengths.len());
}

#[test]
fn expansion_of_spu_intrinsics_grows_with_depth() {
    grows_with_the_depth("spu", "spu_", "spu_mfcio.h", 80);
}

#[test]
fn expansion_of_ppe_intrinsics_grows_with_depth() {
    grows_with_the_depth("ppu", "vec_", "altivec.h", 200);
}

/// Calls with `$` for the nested argument, whose type the result has.
const SPU: &[&str] = &[
    "spu_add($, w)",
    "spu_add(w, $)",
    "spu_sub($, w)",
    "spu_sub(w, $)",
    "spu_sub(3u, $)",
    "spu_addx(w, $, w)",
    "spu_subx(w, w, $)",
    "spu_genc($, w)",
    "spu_gencx($, w, w)",
    "spu_genb($, w)",
    "spu_genbx(w, w, $)",
    "spu_mul($, w)",
    "spu_and($, 5u)",
    "spu_or($, w)",
    "spu_xor(w, $)",
    "spu_andc($, w)",
    "spu_orc($, w)",
    "spu_nand($, w)",
    "spu_nor($, w)",
    "spu_eqv($, w)",
    "spu_sel($, w, w)",
    "spu_sel(w, w, $)",
    "spu_orx($)",
    "spu_cntlz($)",
    "spu_gather($)",
    "spu_sl($, w)",
    "spu_rl($, 3)",
    "spu_rlmask($, -3)",
    "spu_rlmaska($, -3)",
    "spu_sr($, 3)",
    "spu_sra($, 3)",
    "spu_shuffle($, w, p)",
    "spu_shuffle(w, $, p)",
    "spu_slqw($, 3)",
    "spu_slqwbyte($, 3)",
    "spu_slqwbytebc($, 3)",
    "spu_rlqw($, 3)",
    "spu_rlqwbyte($, 3)",
    "spu_rlqwbytebc($, 3)",
    "spu_rlmaskqw($, -3)",
    "spu_rlmaskqwbyte($, -3)",
    "spu_rlmaskqwbytebc($, -3)",
    "spu_srqw($, 3)",
    "spu_srqwbyte($, 3)",
    "spu_srqwbytebc($, 3)",
    "spu_cmpeq($, w)",
    "spu_cmpgt($, 7u)",
    "spu_mulo((vec_ushort8)$, (vec_ushort8)w)",
    "spu_mule((vec_ushort8)$, (vec_ushort8)w)",
    "spu_mhhadd((vec_ushort8)w, (vec_ushort8)w, $)",
    "(vec_uint4)spu_madd((vec_float4)$, (vec_float4)w, (vec_float4)w)",
    "(vec_uint4)spu_msub((vec_float4)$, (vec_float4)w, (vec_float4)w)",
    "(vec_uint4)spu_nmsub((vec_float4)w, (vec_float4)$, (vec_float4)w)",
    "(vec_uint4)spu_nmadd((vec_float4)w, (vec_float4)w, (vec_float4)$)",
    "spu_convtu(spu_convtf($, 1), 1)",
    "spu_cmpabseq((vec_float4)$, (vec_float4)w)",
    "spu_cmpabsgt((vec_float4)$, (vec_float4)w)",
    "(vec_uint4)spu_extend((vec_short8)$)",
    "spu_splats(spu_extract($, 1))",
    "spu_promote(spu_extract($, 1), 2)",
    "spu_insert(spu_extract($, 1), w, 2)",
    "spu_insert(5u, $, 2)",
];

const PPU: &[&str] = &[
    "vec_add($, w)",
    "vec_sub(w, $)",
    "vec_adds($, w)",
    "vec_subs($, w)",
    "vec_addc($, w)",
    "vec_avg($, w)",
    "vec_max($, w)",
    "vec_min(w, $)",
    "vec_and($, w)",
    "vec_or($, w)",
    "vec_xor($, w)",
    "vec_andc($, w)",
    "vec_nor($, w)",
    "vec_sel($, w, w)",
    "vec_perm($, w, p)",
    "vec_sld($, w, 3)",
    "vec_sl($, w)",
    "vec_sr($, w)",
    "vec_sra($, w)",
    "vec_rl(w, $)",
    "vec_sll($, p)",
    "vec_slo($, p)",
    "vec_mergeh($, w)",
    "vec_mergel(w, $)",
    "vec_splat($, 1)",
    "vec_splats(vec_extract($, 1))",
    "vec_insert(vec_extract($, 1), w, 2)",
    "vec_cmpeq($, w)",
    "vec_cmpgt($, w)",
    "vec_mule((vec_ushort8)$, (vec_ushort8)w)",
    "vec_mulo((vec_ushort8)$, (vec_ushort8)w)",
    "vec_msum((vec_ushort8)$, (vec_ushort8)w, w)",
    "vec_msums((vec_ushort8)w, (vec_ushort8)w, $)",
    "vec_sum4s(p, $)",
    "(vec_uint4)vec_pack($, w)",
    "(vec_uint4)vec_packs($, w)",
    "(vec_uint4)vec_packsu(w, $)",
    "(vec_uint4)vec_unpackh((vec_short8)$)",
    "(vec_uint4)vec_madd((vec_float4)$, (vec_float4)w, (vec_float4)w)",
    "vec_ctu(vec_ctf($, 1), 1)",
    "vec_add(w, vec_splats((unsigned int)vec_all_eq($, w)))",
    "vec_ld(0, (const unsigned int *)(unsigned long)vec_extract($, 0))",
];

fn compiles(processor: &str, header: &str, calls: &[&str]) {
    let Some(tool) = Tool::new() else { return };
    let mut text = format!("#include <{header}>\n");
    for (number, call) in calls.iter().enumerate() {
        let nested = (0..DEPTH).fold("v".to_owned(), |inner, _| call.replace('$', &inner));
        text += &format!(
            "vec_uint4 f{number}(vec_uint4 v, vec_uint4 w, vec_uchar16 p)\n\
             {{\n    (void)p, (void)w;\n    return {nested};\n}}\n"
        );
    }
    tool.write("nested.c", &text);
    limited(&tool, &format!("{processor} -std=gnu11 -O2 -c -o nested.o nested.c"));
    if seatmap_needs::tool("g++") {
        tool.write("nested.cc", &text);
        limited(&tool, &format!("{processor}++ -O2 -c -o nested.o nested.cc"));
    }
}

#[test]
fn nested_spu_intrinsics_compile() {
    compiles("spu", "spu_mfcio.h", SPU);
}

#[test]
fn nested_ppe_intrinsics_compile() {
    compiles("ppu", "altivec.h", PPU);
}
