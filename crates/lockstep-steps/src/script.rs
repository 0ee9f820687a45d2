//! The prompts in a workflow's script: JavaScript that starts agents with `agent('…')`.
//!
//! The script is read, not run. A prompt that is one literal can be checked like any other prompt. Every other text may become a part of a
//! prompt when the script runs, and is only searched for markers and step files.

mod tokens;

use self::tokens::{Token, tokenize};
use crate::markers::{MarkerKind, MarkerNames};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScriptTexts {
    /// Prompts that are passed to `agent()` as one literal.
    pub prompts: Vec<String>,
    /// Texts that prompts may be assembled from.
    pub fragments: Vec<String>,
    /// Workflows that `workflow()` starts by a literal name.
    pub workflows: Vec<String>,
}

/// Reads the texts of a script. A script that is no JavaScript is one fragment.
pub fn read(script: &str) -> ScriptTexts {
    let Some(tokens) = tokenize(script) else {
        return ScriptTexts { fragments: vec![script.to_owned()], ..ScriptTexts::default() };
    };
    let mut texts = ScriptTexts::default();
    let meta = meta_range(&tokens);
    for (at, token) in tokens.iter().enumerate() {
        let text = match token {
            Token::Text(text) => text,
            Token::Template(text) => {
                texts.fragments.push(text.clone());
                continue;
            }
            Token::Word(_) | Token::Mark(_) => continue,
        };
        if meta.contains(&at) {
            continue;
        }
        if is_argument_of(&tokens, at, "agent") || is_constant_prompt(&tokens, at) {
            texts.prompts.push(text.clone());
        } else if is_argument_of(&tokens, at, "workflow") {
            texts.workflows.push(text.clone());
        } else {
            texts.fragments.push(text.clone());
        }
    }
    // Code has no comments of this form: it is a text that was not recognised.
    let code = code(&tokens);
    if code.contains(COMMENT) {
        texts.fragments.push(code);
    }
    texts
}

/// The script without its texts.
fn code(tokens: &[Token]) -> String {
    let mut code = String::new();
    for token in tokens {
        match token {
            Token::Word(word) => code.push_str(word),
            Token::Mark(mark) => code.push(*mark),
            Token::Text(_) | Token::Template(_) => code.push(' '),
        }
    }
    code
}

/// Returns true if the token is the whole first argument of a call of `function`.
fn is_argument_of(tokens: &[Token], at: usize, function: &str) -> bool {
    at >= 2
        && tokens[at - 1] == Token::Mark('(')
        && tokens[at - 2].is_word(function)
        && matches!(tokens.get(at + 1), Some(Token::Mark(',' | ')')))
}

/// Returns true if the token is the value of a constant that is used as a whole prompt only.
fn is_constant_prompt(tokens: &[Token], at: usize) -> bool {
    let [.., Token::Word(keyword), Token::Word(name), Token::Mark('=')] = &tokens[..at] else { return false };
    let is_whole = matches!(tokens.get(at + 1), None | Some(Token::Mark(';') | Token::Word(_)));
    let is_use = |other: usize| tokens[other].is_word(name) && other + 2 != at;
    keyword == "const"
        && is_whole
        && (0..tokens.len())
            .filter(|other| is_use(*other))
            .all(|other| is_argument_of(tokens, other, "agent"))
}

/// The literal `export const meta = {…}`, which describes the workflow and reaches no agent. Empty where the script uses it.
fn meta_range(tokens: &[Token]) -> std::ops::Range<usize> {
    let [export, keyword, name, Token::Mark('='), Token::Mark('{'), rest @ ..] = tokens else { return 0..0 };
    if !(export.is_word("export") && keyword.is_word("const") && name.is_word("meta")) {
        return 0..0;
    }
    let mut depth = 1;
    for (at, token) in rest.iter().enumerate() {
        match token {
            Token::Mark('{') => depth += 1,
            Token::Mark('}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let is_used = rest[at..].iter().any(|token| token.is_word("meta"));
            return if is_used { 0..0 } else { 5..5 + at };
        }
    }
    0..0
}

/// Returns true if texts that are put together at run time may name a marker, or a step file below `steps_dir`.
pub fn mention_step(fragments: &[String], names: &MarkerNames, steps_dir: Option<&str>) -> bool {
    let below = steps_dir.map(|dir| format!("{}/", dir.trim_matches('/')));
    let mentions = |text: &str| {
        let upper = text.to_uppercase().replace(['_', ' '], "-");
        text.contains(COMMENT)
            || has_word(text, PREFIX)
            || MarkerKind::ALL.iter().any(|kind| has_word(&upper, &names.get(*kind).to_uppercase()))
            || below.as_ref().is_some_and(|below| has_word(text, below))
    };
    fragments.iter().any(|text| mentions(text)) || mentions(&fragments.concat())
}

/// The beginning of an HTML comment.
const COMMENT: &str = "<!--";

/// The beginning of the documents' markers.
const PREFIX: &str = "DES-";

/// Returns true if `word` occurs in `text` and does not begin inside a word.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(script: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
        let ScriptTexts { prompts, fragments, workflows } = read(script);
        (prompts, fragments, workflows)
    }

    /// An agent hides a prompt behind templates whose nesting would overflow the hook's stack.
    #[test]
    fn a_script_with_deeply_nested_templates_is_one_fragment() {
        let nested = |depth: usize| format!("agent({}x{})", "`${".repeat(depth), "}`".repeat(depth));
        assert_eq!(read_all(&nested(200_000)).1, [nested(200_000)]);
        assert_ne!(read_all(&nested(20)).1, [nested(20)]);
    }

    #[test]
    fn a_literal_argument_of_agent_is_a_prompt() {
        for (script, prompt) in [
            ("await agent('a\\nb')", "a\nb"),
            ("await agent(\"it's\", {label: x})", "it's"),
            ("await parallel([() => agent(`a\n$b \\` c`)])", "a\n$b ` c"),
            ("const P = 'x \\u0041\\x42\\u{43}'\nawait agent(P); agent(P, {})", "x ABC"),
            ("// agent('no')\n/* agent('no') */ agent('yes') // '", "yes"),
            ("const r = /['\"]/.test(a) ? 1 : 2 / 3; agent('yes')", "yes"),
            ("agent('a\\\nb')", "ab"),
        ] {
            let (prompts, ..) = read_all(script);
            assert_eq!(prompts, [prompt], "{script}");
        }
    }

    #[test]
    fn text_that_is_put_together_is_no_prompt() {
        for script in [
            "agent('<!-- DES-' + x)",
            "agent('<!-- DES-'.trim())",
            "agent(`<!-- DES-${x} -->`)",
            "const p = '<!-- DES-'; agent(p + x)",
            "const p = '<!-- DES-'; agent(p.replace('a', 'b'))",
            "let p = '<!-- DES-'; agent(p)",
            "const a = agent; a('<!-- DES-')",
            "agent(String.raw`<!-- DES-`)",
            "agent(['<!-- DES-', x].join(''))",
            "agent(`${x ? '<!-- DES-' : ''}`)",
            "agent('<!' + '-- D' + 'ES-')",
            "agent('\\x3c!-- ' + x)",
            "agent('unfinished <!-- DES-",
            "if (x) /'/.test(y); agent(z + '<!-- DES-VALIDATION: required -->');",
        ] {
            let texts = read(script);
            assert_eq!(texts.prompts, [""; 0], "{script}");
            assert!(mention_step(&texts.fragments, &MarkerNames::default(), None), "{script}: {texts:?}");
        }
    }

    #[test]
    fn the_description_of_a_workflow_reaches_no_agent() {
        let described = "export const meta = { name: 'steps/x', phases: [{title: 'y'}] }\nagent('a')";
        assert_eq!(read_all(described), (vec!["a".to_owned()], vec![], vec![]));
        let used = format!("{described}; agent(meta.name)");
        assert!(read(&used).fragments.contains(&"steps/x".to_owned()));
    }

    #[test]
    fn other_workflows_are_named() {
        assert_eq!(read_all("await workflow('other', {a: 1})").2, ["other"]);
    }

    #[test]
    fn step_files_are_found_in_fragments() {
        let names = MarkerNames::default();
        let mentions = |text: &str| mention_step(&[text.to_owned()], &names, Some("steps"));
        assert!(mentions("do steps/") && mentions("./steps/01-01.json"));
        assert!(!mentions("footsteps/x") && !mentions("the next steps") && !mentions("nodes-1 includes all"));
        let own = names.with(MarkerKind::Validation, "CHECK-ME");
        assert!(mention_step(&["check-".to_owned(), "me: required".to_owned()], &own, None));
    }
}
