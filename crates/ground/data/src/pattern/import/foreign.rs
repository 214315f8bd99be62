//! Formats of the field that are refused, recognised by their beginning, each with the command that
//! converts it.

use super::PatternImportError;

const HEAD_BYTES: usize = 4096;

/// The command that converts a format of NetworkX; the name of its reader is inserted in between.
const NETWORKX: [&str; 2] = [
    "python3 -c \"import networkx as nx; print('from,to,bytes'); [print(a, b, w, sep=',') for a, \
     b, w in nx.",
    // Such a file has an undirected edge once; a pattern has it both ways.
    "('OLD').to_directed().edges(data='weight', default=1)]\" > NEW.csv",
];

/// The command for DOT. Graphviz reads all of it, including subgraphs, which NetworkX loses.
const GRAPHVIZ: &str = "convert it to a list of edges with Graphviz (Debian package graphviz): \
                        gvpr 'BEGIN {print(\"from,to,bytes\")} E {string w = hasAttr($, \
                        \"weight\") && aget($, \"weight\") != \"\" ? aget($, \"weight\") : \"1\"; \
                        print(tail.name, \",\", head.name, \",\", w); if ($G.directed == 0) \
                        print(head.name, \",\", tail.name, \",\", w)}' OLD > NEW.csv";

const TRACE: &str = "it records calls, not the bytes between tasks; run the program with 'seatmap \
                     observe --method mpi' to get its pattern";

type Format = (&'static str, String);

fn networkx(reader: &str) -> String {
    format!("convert it to a list of edges: {}{reader}{}", NETWORKX[0], NETWORKX[1])
}

pub fn recognised(bytes: &[u8]) -> Option<PatternImportError> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    // The cut may fall inside a character.
    let (format, remedy) = binary(head).or_else(|| text(&String::from_utf8_lossy(head)))?;
    Some(PatternImportError::Foreign { format, remedy })
}

/// Formats that begin with magic bytes (as in file(1)).
fn binary(head: &[u8]) -> Option<Format> {
    let formats: [(&[u8], &str, &str); 2] = [
        (
            b"PERFILE2",
            "a perf recording",
            "'seatmap observe --recording OLD' converts it to a pattern",
        ),
        (b"OTF2", "an OTF2 trace", TRACE),
    ];
    let known = formats.iter().find(|(magic, ..)| head.starts_with(magic));
    let (format, remedy) = known
        .map(|(_, format, remedy)| (*format, *remedy))
        .or_else(|| crate::document::packed(head))?;
    Some((format, remedy.to_owned()))
}

fn text(head: &str) -> Option<Format> {
    let start = head.trim_start_matches('\u{feff}').trim_start();
    let lower = start.to_ascii_lowercase();
    markup(&lower).or_else(|| words(&lower)).or_else(|| numbers(start))
}

fn markup(lower: &str) -> Option<Format> {
    if lower.starts_with('<') {
        let kinds = [("<graphml", "GraphML", "read_graphml"), ("<gexf", "GEXF", "read_gexf")];
        let graph = kinds.iter().find(|(tag, ..)| lower.contains(tag));
        let trace = [("<ipm", "an IPM profile")].into_iter().find(|(tag, _)| lower.contains(tag));
        return graph
            .map(|(_, name, reader)| (*name, networkx(reader)))
            .or_else(|| trace.map(|(_, name)| (name, TRACE.to_owned())));
    }
    // Seatmap's own patterns are JSON as well, and have a format key.
    let is_json_graph = lower.starts_with('{')
        && !lower.contains("\"format\"")
        && lower.contains("\"nodes\"")
        && (lower.contains("\"links\"") || lower.contains("\"edges\""));
    let load = "node_link_graph(__import__('json').load(open('OLD'))).to_directed()\
                .edges(data='weight', default=1)]\" > NEW.csv";
    is_json_graph.then(|| {
        (
            "a JSON graph of nodes and links",
            format!("convert it to a list of edges: {}{load}", NETWORKX[0]),
        )
    })
}

fn words(lower: &str) -> Option<Format> {
    let formats: [(&[&str], &str, String); 7] = [
        (&["*vertices", "*network"], "Pajek", networkx("read_pajek")),
        (&["graph [", "graph\n[", "graph\r\n[", "creator \""], "GML", networkx("read_gml")),
        (&["digraph", "strict ", "graph "], "Graphviz DOT", GRAPHVIZ.to_owned()),
        (&["#paraver", "extrae"], "a Paraver trace", TRACE.to_owned()),
        (&["@ mpip"], "an mpiP report", TRACE.to_owned()),
        (&["##ipm"], "an IPM report", TRACE.to_owned()),
        (
            &["%matrixmarket"],
            "MatrixMarket with one % too few",
            "write the first line as %%MatrixMarket ...".to_owned(),
        ),
    ];
    let lower = behind_comments(lower);
    let found = formats
        .into_iter()
        .find(|(starts, ..)| starts.iter().any(|start| lower.starts_with(start)))?;
    Some((found.1, found.2))
}

/// A text without the C comments at its start, which Graphviz writes.
fn behind_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let end = match rest.get(..2) {
            Some("//") => rest.find('\n').map(|at| at + 1),
            Some("/*") => rest.find("*/").map(|at| at + 2),
            _ => return rest,
        };
        rest = rest[end.unwrap_or(rest.len())..].trim_start();
    }
}

fn numbers(start: &str) -> Option<Format> {
    let mut lines = start.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    // The DIMACS challenges: comments `c`, one line `p`, then arcs `a` or edges `e`.
    let problem = start
        .lines()
        .map(str::trim)
        .find(|line| !(line.is_empty() || *line == "c" || line.starts_with("c ")))
        .unwrap_or_default();
    if problem.starts_with("p ") && problem.split_whitespace().count() >= 4 {
        // An arc `a` has a direction, an edge `e` has none.
        let edges = "$1 == \"a\" || $1 == \"e\" {w = $4 == \"\" ? 1 : $4; print $2 - 1 \",\" \
                     $3 - 1 \",\" w} $1 == \"e\" {print $3 - 1 \",\" $2 - 1 \",\" w}";
        return Some(("DIMACS", awk(edges)));
    }
    // SNAP's lists: comments `#`, then two numbers a line.
    if first.starts_with('#') {
        let pair = lines.find(|line| !line.starts_with('#'))?;
        let fields: Vec<&str> = pair.split_whitespace().collect();
        let is_pair = (2..=3).contains(&fields.len())
            && fields.iter().all(|field| field.parse::<f64>().is_ok());
        // Its comments say if an edge is undirected and listed once.
        let is_undirected = start.to_ascii_lowercase().contains("undirected");
        let back = if is_undirected { "; print $2 \",\" $1 \",\" w" } else { "" };
        let edges = format!("!/^#/ {{w = $3 == \"\" ? 1 : $3; print $1 \",\" $2 \",\" w{back}}}");
        return is_pair.then(|| ("a SNAP list of edges", awk(&edges)));
    }
    // Scotch's graphs: the version 0 alone, then the numbers of vertices and arcs, then base value
    // and flags.
    let is_scotch = first == "0"
        && lines.next().and_then(counts).is_some_and(|counts| counts.len() == 2)
        && lines.next().and_then(counts).is_some_and(|flags| flags.len() == 2 && flags[0] <= 1);
    is_scotch
        .then(|| ("a Scotch graph", "convert it to a METIS graph: gcv -is -oc OLD NEW".to_owned()))
}

fn awk(edges: &str) -> String {
    format!(
        "convert it to a list of edges: awk 'BEGIN {{print \"from,to,bytes\"}} {edges}' OLD > \
         NEW.csv"
    )
}

fn counts(line: &str) -> Option<Vec<usize>> {
    line.split_whitespace().map(|word| word.parse::<usize>().ok()).collect::<Option<Vec<_>>>()
}

#[cfg(test)]
mod tests {
    use crate::pattern::import::read;

    fn refusal(file: &[u8]) -> String {
        read(file, "x", None).unwrap_err().to_string()
    }

    #[test]
    fn foreign_formats_are_named_with_a_conversion() {
        let files: [&[u8]; 21] = [
            b"<?xml version=\"1.0\"?>\n<graphml xmlns=\"x\"><graph/></graphml>",
            b"<gexf></gexf>",
            b"*Vertices 2\n1 \"a\"\n2 \"b\"\n*Edges\n1 2 3\n",
            b"Creator \"x\"\ngraph [\n node [ id 0 ]\n]\n",
            b"digraph { a -> b }",
            b"graph \"of mine\" { a -- b }",
            b"// mine\n/* of\n two */ graph of_mine\n{ a -- b }",
            b"{\"nodes\":[{\"id\":0}],\"links\":[]}",
            b"c a graph\np sp 2 2\na 1 2 5\na 2 1 5\n",
            b"p edge 3 2\ne 1 2\ne 2 3\n",
            b"# FromNodeId\tToNodeId\n0\t1\n1\t2\n",
            b"# Undirected graph\n0\t1\n1\t2\n",
            b"\x93NUMPY\x01\x00",
            b"0\n3 4\n0 000\n1 1\n2 0 2\n1 1\n",
            b"#Paraver (01/01/2026)",
            b"@ mpiP\n@ Command : ./a\n",
            b"<?xml version=\"1.0\"?><ipm></ipm>",
            b"\x1f\x8b\x08\x00\xff\xfe",
            b"PERFILE2\x00\x01\xff",
            b"PK\x03\x04\xff",
            b"%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n",
        ];
        insta::assert_snapshot!(files.map(refusal).join("\n"));
    }

    #[test]
    fn supported_formats_are_not_called_foreign() {
        for file in
            ["2\n0 1\n1 0\n0 2\n2 0\n", "0,5\n5,0\n", "from,to,bytes\n0,1,5\n", "%\n2 1\n2\n1\n"]
        {
            assert!(super::recognised(file.as_bytes()).is_none(), "{file}");
        }
    }
}
