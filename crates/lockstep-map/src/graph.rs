//! The graph in the languages of other programs: Graphviz, Mermaid, JSON.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use lockstep_text::{is_unprintable, single_line};
use serde::Serialize;

use crate::hotspot::Hotspot;
use crate::view::MapView;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MapGraph<'v> {
    /// The files, sorted by path.
    pub nodes: Vec<GraphNode<'v>>,
    /// Sorted.
    pub edges: Vec<GraphEdge<'v>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GraphNode<'v> {
    pub path: &'v str,
    pub name: &'v str,
    pub hotspot: Hotspot,
    /// The day it was last scanned because it changed.
    pub updated: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct GraphEdge<'v> {
    pub from: &'v str,
    pub to: &'v str,
}

impl<'v> MapView<'v> {
    pub fn shape(&self) -> MapGraph<'v> {
        self.subgraph(&(0..self.record.entries.len()).collect())
    }

    /// Returns a file with its references, its referrers, and the edges between all of them.
    pub fn neighbourhood(&self, place: usize) -> MapGraph<'v> {
        let near = self.record.refs(place).iter().chain(&self.referring[place]);
        self.subgraph(&near.map(|near| *near as usize).chain([place]).collect())
    }

    fn subgraph(&self, places: &BTreeSet<usize>) -> MapGraph<'v> {
        let entries = &self.record.entries;
        let node = |at: &usize| GraphNode {
            path: &entries[*at].path,
            name: entries[*at].name(),
            hotspot: self.hotspots[*at],
            updated: entries[*at].updated.to_string(),
        };
        let edges = places.iter().flat_map(|from| {
            let within = self.record.refs(*from).iter().filter(|to| places.contains(&(**to as usize)));
            within.map(|to| GraphEdge { from: &entries[*from].path, to: &entries[*to as usize].path })
        });
        MapGraph { nodes: places.iter().map(node).collect(), edges: edges.collect() }
    }
}

impl MapGraph<'_> {
    /// Renders the graph for Graphviz.
    pub fn to_dot(&self) -> String {
        let mut out = String::from(
            "digraph map {\n  rankdir=LR;\n  node [shape=box, style=filled, fillcolor=white];\n",
        );
        for node in &self.nodes {
            let colour = match node.hotspot {
                Hotspot::Low => "",
                Hotspot::Medium => ", fillcolor=\"#ffe8a3\"",
                Hotspot::High => ", fillcolor=\"#ffb3a3\"",
            };
            let _ = writeln!(out, "  {} [label={}{colour}];", quoted(node.path), quoted(node.name));
        }
        for edge in &self.edges {
            let _ = writeln!(out, "  {} -> {};", quoted(edge.from), quoted(edge.to));
        }
        out + "}\n"
    }

    /// Renders the graph for Mermaid.
    pub fn to_mermaid(&self) -> String {
        let place = |path: &str| self.nodes.binary_search_by(|node| node.path.cmp(path)).unwrap_or_default();
        let mut out = String::from("graph LR\n");
        for (at, node) in self.nodes.iter().enumerate() {
            let class = match node.hotspot {
                Hotspot::Low => "",
                Hotspot::Medium => ":::medium",
                Hotspot::High => ":::high",
            };
            let _ = writeln!(out, "  f{at}[\"{}\"]{class}", escape_mermaid(node.name));
        }
        for edge in &self.edges {
            let _ = writeln!(out, "  f{} --> f{}", place(edge.from), place(edge.to));
        }
        out + "  classDef medium fill:#ffe8a3\n  classDef high fill:#ffb3a3\n"
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", single_line(text).replace('\\', "\\\\").replace('"', "\\\""))
}

/// A text of Mermaid, in which quotes and the like end something.
fn escape_mermaid(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '#' | ';' | '<' | '>' | '&' | '`' => {
                let _ = write!(out, "#{};", u32::from(c));
            }
            c if is_unprintable(c) => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::record::MapRecord;

    fn record() -> MapRecord {
        let mut record = MapRecord::empty(date(2026, 2, 14));
        for (path, refs) in [("a\"b.md", vec![1]), ("c.md", vec![2]), ("d.md", vec![]), ("e.md", vec![2])] {
            record.push_minimal(path, &refs);
        }
        record
    }

    #[test]
    fn names_are_quoted_by_the_rules_of_each_format() {
        let record = record();
        let view = MapView::new(&record, &|path| path == "d.md");
        let shape = view.neighbourhood(1);
        assert_eq!(shape.nodes.len(), 3);
        assert_eq!(shape.edges.len(), 2);
        let dot = shape.to_dot();
        assert!(dot.contains("\"a\\\"b.md\" -> \"c.md\";\n"), "{dot}");
        assert!(dot.contains("\"d.md\" [label=\"d.md\", fillcolor=\"#ffb3a3\"];\n"), "{dot}");
        let mermaid = shape.to_mermaid();
        assert!(
            mermaid.contains("  f0[\"a#34;b.md\"]\n  f1[\"c.md\"]\n  f2[\"d.md\"]:::high\n"),
            "{mermaid}"
        );
        assert!(mermaid.contains("  f0 --> f1\n  f1 --> f2\n"), "{mermaid}");
        assert_eq!(view.shape().nodes.len(), 4);
        assert_eq!(view.shape().edges.len(), 3);
    }
}
