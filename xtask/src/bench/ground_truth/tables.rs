//! The scores as tables.

use std::collections::BTreeSet;

use super::language::Mutation;
use super::score::{Answerer, Score, ScoredCase};

/// Everything about a language, for the page.
pub(super) fn of(language: &str, judged: &[ScoredCase]) -> String {
    let of: Vec<&ScoredCase> = judged.iter().filter(|judged| judged.language == language).collect();
    let parts = [sets(&of), rows("change", &kinds(&of)), rows("package", &packages(&of))];
    format!("### {language}: the files that break\n\n{}", parts.join("\n"))
}

/// Everybody, on the packages that rules were made with and on the others.
fn sets(judged: &[&ScoredCase]) -> String {
    let mut groups = Vec::new();
    for (held_out, name) in [(false, "known"), (true, "held out")] {
        let set: Vec<&ScoredCase> =
            judged.iter().copied().filter(|judged| judged.held_out == held_out).collect();
        if !set.is_empty() {
            let language = set.first().map_or("", |judged| judged.language);
            for who in Answerer::all(language) {
                groups.push((format!("{}, {name} packages", who.word()), set.clone(), who));
            }
        }
    }
    table("who", &groups)
}

fn kinds<'j>(judged: &[&'j ScoredCase]) -> Vec<(String, Vec<&'j ScoredCase>)> {
    let of = |mutation: Mutation| {
        let cases = judged.iter().copied().filter(|judged| judged.case.mutation == mutation).collect();
        (mutation.word().to_owned(), cases)
    };
    Mutation::ALL.into_iter().map(of).collect()
}

fn packages<'j>(judged: &[&'j ScoredCase]) -> Vec<(String, Vec<&'j ScoredCase>)> {
    let names: BTreeSet<(bool, &str)> =
        judged.iter().map(|judged| (judged.held_out, judged.package)).collect();
    let of = |(held_out, name): (bool, &str)| {
        let cases = judged.iter().copied().filter(|judged| judged.package == name).collect();
        (if held_out { format!("{name} (held out)") } else { name.to_owned() }, cases)
    };
    names.into_iter().map(of).collect()
}

fn rows(title: &str, groups: &[(String, Vec<&ScoredCase>)]) -> String {
    let ours: Vec<_> =
        groups.iter().map(|(name, cases)| (name.clone(), cases.clone(), Answerer::Ours)).collect();
    table(title, &ours)
}

fn table(title: &str, groups: &[(String, Vec<&ScoredCase>, Answerer)]) -> String {
    let mut out = format!(
        "| {title} | cases | true files | answered | recall | precision | recall per case | precision per case |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    for (name, cases, who) in groups {
        let score = Score::of(cases.iter().copied(), *who);
        if score.cases == 0 {
            let why = if who.is_slow() { "not asked" } else { "not installed" };
            out.push_str(&format!("| {name} | {why} | | | | | | |\n"));
            continue;
        }
        out.push_str(&format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} |\n",
            score.cases,
            score.true_files,
            score.answered,
            shown(score.recall()),
            shown(score.precision()),
            shown(score.case_recall()),
            shown(score.case_precision()),
        ));
    }
    out
}

fn shown(ratio: Option<f64>) -> String {
    ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.3}"))
}

/// Every wrong answer of ours, for those who make it better.
pub(super) fn wrong(judged: &[ScoredCase]) -> String {
    let mut out = String::new();
    for judged in judged {
        let (missed, wrong) = (judged.missed(Answerer::Ours), judged.wrong(Answerer::Ours));
        if missed.is_empty() && wrong.is_empty() {
            continue;
        }
        out.push_str(&format!("{} {}\n", judged.package, judged.case.shown()));
        for (sign, files, why) in [("missed", missed, &judged.truth), ("wrong", wrong, &judged.evidence)] {
            for file in files {
                let why = why.get(file).map_or("", String::as_str);
                out.push_str(&format!("    {sign} {file}: {why}\n"));
            }
        }
    }
    out
}
