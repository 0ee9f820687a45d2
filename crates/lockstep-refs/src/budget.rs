//! The budget for reading one file: operations of the parser, bytes that its lexer reads, processor time and
//! memory.
//!
//! Operations and bytes are counted, so that facts depend on the text alone. Some grammars spend unbounded
//! time or memory in one operation; time and memory are measured by a [`Meter`] that the program installs.
//! Valid code stays far below all limits.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::Duration;

/// Measures the resources of the process: this crate reads neither clock nor system.
pub trait Meter: Sync {
    /// Returns the processor time that this thread has used.
    fn thread_time(&self) -> Duration;
    /// Returns the resident memory of the process in bytes. `None` if the system does not report it.
    fn memory(&self) -> Option<u64>;
}

static METER: OnceLock<&'static dyn Meter> = OnceLock::new();

/// Sets the meter of all later parses. Without one, only operations and bytes are limited.
pub fn install_meter(meter: &'static dyn Meter) {
    let _ = METER.set(meter);
}

/// Unoptimised grammars are about ten times slower.
const SLOWNESS: u32 = if cfg!(debug_assertions) { 10 } else { 1 };

/// The part of a budget that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    operations: usize,
    bytes: usize,
    time: Duration,
    memory: u64,
}

thread_local! {
    /// The budget of the file that this thread is reading.
    static OF_FILE: Cell<Option<Budget>> = const { Cell::new(None) };
}

impl Budget {
    /// Returns the budget of a text. Dense code takes 2 operations per byte. Kotlin's scanner reads a byte 18
    /// times, and Python's reads a block of comments again for each of its lines.
    pub(crate) fn for_text(text: &str) -> Self {
        let length = text.len();
        Self {
            operations: 30_000 + 4 * length,
            bytes: (16 << 20) + 128 * length,
            time: SLOWNESS * (Duration::from_millis(300) + Duration::from_nanos(500) * length_of(length)),
            memory: (64 << 20) + 64 * length as u64,
        }
    }

    /// Returns the rest of the budget of the file that is being read, else one for `text`.
    pub(crate) fn current(text: &str) -> Self {
        OF_FILE.get().unwrap_or_else(|| Self::for_text(text))
    }

    /// Saves the rest for the next parse of the same file.
    pub(crate) fn keep(self) {
        if OF_FILE.get().is_some() {
            OF_FILE.set(Some(self));
        }
    }
}

fn length_of(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Reads a file within one budget, which all parses by `read` on this thread share.
pub(crate) fn with_budget<T>(text: &str, read: impl FnOnce() -> T) -> T {
    let outer = OF_FILE.replace(Some(OF_FILE.get().unwrap_or_else(|| Budget::for_text(text))));
    let result = read();
    OF_FILE.set(outer);
    result
}

/// Spends a budget during one parse.
pub(crate) struct Spender {
    left: Budget,
    meter: Option<&'static dyn Meter>,
    /// Processor time of the thread at the start.
    started: Duration,
    /// Resident memory at which the parse ends; unknown until the parse has taken some time.
    memory_limit: Option<u64>,
    /// Processor time at which memory is measured next.
    next_look: Duration,
    is_over: bool,
}

/// The interval between measurements of memory, each of which reads a file of the system.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

impl Spender {
    pub(crate) fn new(budget: Budget) -> Self {
        let meter = METER.get().copied();
        let started = meter.map_or(Duration::ZERO, Meter::thread_time);
        Self {
            left: budget,
            meter,
            started,
            memory_limit: None,
            next_look: started + LOOK_INTERVAL,
            is_over: false,
        }
    }

    /// Spends operations and bytes. Returns false when the budget is exhausted, and from then on.
    pub(crate) fn spend(&mut self, operations: usize, bytes: usize) -> bool {
        let left = &mut self.left;
        match (left.operations.checked_sub(operations), left.bytes.checked_sub(bytes)) {
            (Some(operations), Some(bytes)) => (left.operations, left.bytes) = (operations, bytes),
            _ => self.is_over = true,
        }
        if !self.is_over
            && let Some(meter) = self.meter
        {
            self.is_over = self.is_over_measure(meter);
        }
        !self.is_over
    }

    fn is_over_measure(&mut self, meter: &dyn Meter) -> bool {
        let now = meter.thread_time();
        if now < self.next_look {
            return false;
        }
        self.next_look = now + LOOK_INTERVAL;
        if now.saturating_sub(self.started) > self.left.time {
            return true;
        }
        let Some(memory) = meter.memory() else { return false };
        memory > *self.memory_limit.get_or_insert(memory + self.left.memory)
    }

    /// Returns true if the budget is exhausted.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the rest of the budget; nothing of it if the parse was ended.
    pub(crate) fn rest(self) -> Budget {
        if self.is_over {
            return Budget { operations: 0, bytes: 0, time: Duration::ZERO, memory: 0 };
        }
        let spent =
            self.meter.map_or(Duration::ZERO, |meter| meter.thread_time().saturating_sub(self.started));
        Budget { time: self.left.time.saturating_sub(spent), ..self.left }
    }
}

/// The maximum nesting of brackets. Neither people nor generators write deeper code.
const MAX_NESTING: usize = 1_000;

/// The maximum number of `<` without `>`: grammars with type arguments parse each of them in two ways.
const MAX_ANGLES: usize = 100;

/// The maximum number of tokens in unfinished expressions, over all open brackets.
const MAX_PENDING: usize = 20_000;

/// The unfinished tokens behind an open bracket.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    tokens: usize,
    angles: usize,
}

/// The depth of a text up to a place.
struct Depth {
    levels: Vec<Level>,
    /// Sum over all levels.
    pending: Level,
}

impl Depth {
    fn close(&mut self) {
        if self.levels.len() > 1
            && let Some(level) = self.levels.pop()
        {
            self.pending.tokens -= level.tokens;
            self.pending.angles -= level.angles;
        }
    }

    fn innermost(&mut self) -> &mut Level {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    /// Ends the expressions of the innermost level.
    fn finish(&mut self) {
        let level = std::mem::take(self.innermost());
        self.pending.tokens -= level.tokens;
        self.pending.angles -= level.angles;
    }

    fn add_token(&mut self) {
        self.innermost().tokens += 1;
        self.pending.tokens += 1;
    }

    fn open_angle(&mut self) {
        self.innermost().angles += 1;
        self.pending.angles += 1;
    }

    fn close_angle(&mut self) {
        if self.innermost().angles > 0 {
            self.innermost().angles -= 1;
            self.pending.angles -= 1;
        }
    }

    fn is_over(&self) -> bool {
        let Level { tokens, angles } = self.pending;
        self.levels.len() > MAX_NESTING || tokens > MAX_PENDING || angles > MAX_ANGLES
    }
}

/// Returns true if brackets are nested too deeply, or if expressions are too long.
///
/// Parsers keep a stack of unfinished nodes. The cost of an error at the end of a deep one is proportional to
/// the depth of the stack, in time, in memory and in recursion, and the parser does not count it. The
/// estimate is coarse: strings within a line are skipped, comments are not.
pub(crate) fn is_too_deep(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut depth = Depth { levels: vec![Level::default()], pending: Level::default() };
    // The last byte before the end of a line that is not a space.
    let mut last = b'\n';
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let mut step = 1;
        match byte {
            b' ' | b'\t' | b'\r' => {}
            b'\n' if is_operator(last) || last == b',' => {}
            b'\n' | b';' => depth.finish(),
            b',' if depth.innermost().angles == 0 => depth.finish(),
            b'(' | b'[' | b'{' => depth.levels.push(Level::default()),
            b')' | b']' | b'}' => depth.close(),
            _ => {
                step = token_length(&bytes[at..]);
                depth.add_token();
                match byte {
                    b'<' if step == 1 => depth.open_angle(),
                    b'>' if !matches!(last, b'-' | b'=') => depth.close_angle(),
                    _ => {}
                }
            }
        }
        if depth.is_over() {
            return true;
        }
        match byte {
            b' ' | b'\t' | b'\r' => {}
            // A comment ends.
            b'/' if last == b'*' => last = b';',
            _ => last = bytes[at + step - 1],
        }
        at += step;
    }
    false
}

/// Returns true for a byte after which an expression continues in the next line.
fn is_operator(byte: u8) -> bool {
    b"+-*/%=<>!&|^~?".contains(&byte)
}

/// Returns the length of the word, the string within a line, the shift operator or the single character at
/// the start.
fn token_length(rest: &[u8]) -> usize {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte >= 0x80;
    match rest {
        [first, ..] if is_word(first) => rest.iter().take_while(|byte| is_word(byte)).count(),
        [b'<', b'<', ..] => 2,
        [quote @ (b'"' | b'\'' | b'`'), inside @ ..] => {
            string_length(*quote, inside).map_or(1, |length| length + 1)
        }
        _ => 1,
    }
}

/// Returns the length up to the closing quote, if it is in the same line.
fn string_length(quote: u8, inside: &[u8]) -> Option<usize> {
    /// Longer strings are read as several tokens, so that the search is not repeated over a long line.
    const MAX_LENGTH: usize = 2_000;
    let mut at = 0;
    while at < MAX_LENGTH {
        match inside.get(at)? {
            b'\n' => return None,
            b'\\' => at += 2,
            byte if *byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_brackets_and_endless_expressions_are_too_deep() {
        for token in [
            "{[", "(", "a<", "a=>", "!", "- ", "a?b:", "Map<K, ", "Map<K,\n", "f<", "/* a ", "a =\n", "not ",
            "@a(", "\"\\",
        ] {
            assert!(is_too_deep(&token.repeat(50_000)), "{token}");
        }
    }

    #[test]
    fn long_code_is_not_too_deep() {
        for line in [
            "let a = f(b, [c, {d: 1}]) + 2;\n",
            "x = 1\n",
            "'(' : \"[\",\n",
            "if (a) { b } else if (c) { d }\n",
            "[1, 2, 3],",
            "A = 1 << 3,\n",
            "if (a < b) { c(d < e, f) }\n",
            "x: Map<String, Vec<u8>>,\n",
            "fn f<T>() -> Vec<T> { a => b }\n",
            "/* It isn't (yet) finished: a * b. */\n",
            "&'a str\n",
            " * A sentence of a comment.\n",
            "a.b(c)\n",
        ] {
            assert!(!is_too_deep(&line.repeat(20_000)), "{line}");
        }
    }

    #[test]
    fn a_budget_is_spent_once() {
        let mut spender = Spender::new(Budget::for_text(""));
        assert!(spender.spend(30_000, 0));
        assert!(!spender.spend(1, 0));
        assert!(!spender.spend(0, 0), "the end is final");
        assert_eq!(spender.rest().operations, 0);
    }

    #[test]
    fn parses_of_one_file_share_its_budget() {
        with_budget("abc", || {
            let whole = Budget::current("");
            assert_eq!(whole, Budget::for_text("abc"));
            Budget { operations: 7, ..whole }.keep();
            with_budget("", || assert_eq!(Budget::current("").operations, 7));
        });
        assert_eq!(Budget::current(""), Budget::for_text(""));
    }
}
