//! Cuts a script into SQL commands and the words of meta-commands, by the rules of psql's scanner:
//! a semicolon ends a command unless it stands in quotes, dollar quotes, comments, parentheses or
//! the body of a function; a backslash outside quotes starts a meta-command; `\;` joins statements.

use super::Dialect;
use super::expr_lexer::{blanks, name_length};
use super::variables::{continues_name, starts_name};

/// An SQL command as it stands in the script.
#[derive(Debug, Default)]
pub(crate) struct Sql {
    /// The text without the final semicolon; `\;` has become `;`.
    pub(crate) text: String,
    /// Offset in the script of the first character kept.
    pub(crate) start: usize,
    /// Quoted and commented parts of `text`, in order.
    spans: Vec<Span>,
    /// Statements that are not empty.
    pub(crate) statements: u32,
    /// Offsets in `text` of the semicolons that were written `\;`.
    joints: Vec<usize>,
    /// A semicolon ended it, so that it counts even when empty.
    terminated: bool,
}

/// What a part of an SQL text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Region {
    /// Neither of the others.
    Plain,
    /// A literal, a quoted name or a dollar-quoted text.
    Quoted,
    /// A comment.
    Comment,
}

#[derive(Debug)]
struct Span {
    start: usize,
    end: usize,
    region: Region,
}

/// A use of a variable in an SQL text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    /// Offset of the colon in the text.
    pub(crate) start: usize,
    /// Offset after the name.
    pub(crate) end: usize,
    /// Where it stands.
    pub(crate) region: Region,
    /// How it is written.
    pub(crate) form: Form,
}

/// How a use of a variable is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `:name`
    Value,
    /// `:'name'`, in simple protocol a quoted literal.
    Literal,
    /// `:{name}`, the number of a table.
    Table,
    /// What starts like `:{name}` and is none.
    NoTable,
}

impl Use {
    /// The variable's name.
    pub(crate) fn name<'t>(&self, text: &'t str) -> &'t str {
        match self.form {
            Form::Value => &text[self.start + 1..self.end],
            Form::Literal | Form::Table => &text[self.start + 2..self.end - 1],
            Form::NoTable => "",
        }
    }
}

/// The form and length, colon included, of what follows a colon; nothing where it starts no use.
fn form_of(text: &str) -> Option<(Form, usize)> {
    let bytes = text.as_bytes();
    let enclosed = |close: u8| {
        let name = text.get(2..)?;
        let end = 2 + name_length(name);
        if !bytes.get(2).is_some_and(|byte| starts_name(*byte)) {
            return None;
        }
        (bytes.get(end) == Some(&close)).then_some(end + 1)
    };
    match *bytes.get(1)? {
        first if starts_name(first) => Some((Form::Value, 1 + name_length(&text[1..]))),
        // A doubled quote goes on with the literal.
        b'\'' => enclosed(b'\'')
            .filter(|end| bytes.get(*end) != Some(&b'\''))
            .map(|end| (Form::Literal, end)),
        b'{' => Some(enclosed(b'}').map_or((Form::NoTable, 2), |end| (Form::Table, end))),
        _ => None,
    }
}

impl Sql {
    /// Whether there is a command at all.
    pub(crate) fn is_command(&self) -> bool {
        self.terminated || !self.text.is_empty()
    }

    /// Whether `\;` joins several statements.
    pub(crate) fn is_compound(&self) -> bool {
        !self.joints.is_empty()
    }

    /// The statements, one unless joined; some may be empty.
    pub(crate) fn each_statement(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.joints.iter().map(|joint| joint + 1));
        let ends = self.joints.iter().copied().chain(std::iter::once(self.text.len()));
        starts.zip(ends).map(|(start, end)| &self.text[start..end])
    }

    /// The variables used outside comments, in order. `::` (a cast) starts none, and inside quotes
    /// there is only the plain form.
    pub(crate) fn uses(&self) -> Vec<Use> {
        let bytes = self.text.as_bytes();
        let mut uses = Vec::new();
        let mut spans = self.spans.iter().peekable();
        let mut at = 0;
        while let Some(found) = bytes[at..].iter().position(|byte| *byte == b':') {
            let start = at + found;
            let Some((form, length)) = form_of(&self.text[start..]) else {
                at = start + bytes[start..].iter().take_while(|byte| **byte == b':').count();
                continue;
            };
            while spans.next_if(|span| span.end <= start).is_some() {}
            let region = match spans.peek() {
                Some(span) if span.start <= start => span.region,
                _ => Region::Plain,
            };
            if region != Region::Plain && form != Form::Value {
                at = start + 1;
                continue;
            }
            let end = start + length;
            if region != Region::Comment {
                uses.push(Use { start, end, region, form });
            }
            at = end;
        }
        uses
    }
}

/// What ended an SQL command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Semicolon,
    /// A meta-command follows.
    Backslash,
    Text,
}

/// A word of a meta-command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<'t> {
    pub(crate) text: &'t str,
    /// Its offset in the script.
    pub(crate) start: usize,
}

/// Walks through a script.
pub(crate) struct Scanner<'t> {
    text: &'t str,
    position: usize,
    dialect: Dialect,
}

impl<'t> Scanner<'t> {
    /// Starts at the beginning of `text`.
    pub(crate) fn new(text: &'t str, dialect: Dialect) -> Self {
        Self { text, position: 0, dialect }
    }

    /// Offset of the next character.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Goes on at `position`, the end of something else's part of the text.
    pub(crate) fn set_position(&mut self, position: usize) {
        self.position = position;
    }

    /// The next word of a meta-command; `None` at the end of its line.
    pub(crate) fn word(&mut self) -> Option<Word<'t>> {
        self.position += blanks(&self.text[self.position..]);
        let start = self.position;
        let bytes = &self.text.as_bytes()[start..];
        let ends = |at: usize| {
            matches!(
                bytes[at..],
                [b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c, ..]
                    | [b'\\', b'\n', ..]
                    | [b'\\', b'\r', b'\n', ..]
            )
        };
        let length = (0..bytes.len()).find(|at| ends(*at)).unwrap_or(bytes.len());
        self.position += length;
        (length > 0).then(|| Word { text: &self.text[start..start + length], start })
    }

    /// The next SQL command (perhaps none, see [`Sql::is_command`]) and what ended it.
    pub(crate) fn sql(&mut self) -> (Sql, End) {
        let mut collector = Collector::default();
        let end = loop {
            let rest = &self.text.as_bytes()[self.position..];
            match *rest {
                [] => break End::Text,
                [b'\\', b';', ..] => {
                    collector.join();
                    self.position += 2;
                }
                [b'\\', b':', ..] => {
                    collector.push(":", self.position, Region::Plain);
                    self.position += 2;
                }
                [b'\\', ..] => {
                    self.position += 1;
                    break End::Backslash;
                }
                [b';', ..] if collector.semicolon_ends() => {
                    collector.sql.terminated = true;
                    collector.note_start(self.position);
                    self.position += 1;
                    break End::Semicolon;
                }
                _ => self.piece(&mut collector),
            }
        };
        (collector.finish(), end)
    }

    /// Moves one lexical piece into the collector.
    fn piece(&mut self, collector: &mut Collector) {
        let rest = &self.text[self.position..];
        let backticks = self.dialect != Dialect::Postgres;
        let (length, piece) = piece(rest, backticks, collector.escape_prefix);
        let text = &rest[..length];
        match piece {
            Piece::Word => collector.word(text),
            Piece::Open => collector.parentheses += 1,
            Piece::Close => collector.parentheses = collector.parentheses.saturating_sub(1),
            Piece::Quoted | Piece::Comment | Piece::Other => {}
        }
        let region = match piece {
            Piece::Quoted => Region::Quoted,
            Piece::Comment => Region::Comment,
            _ => Region::Plain,
        };
        collector.push(text, self.position, region);
        self.position += length;
    }
}

/// The kind of a lexical piece of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Word,
    Quoted,
    Comment,
    Open,
    Close,
    /// One sign, digit or blank.
    Other,
}

/// Length and kind of the piece at the start of `text`, which is not empty. `backticks` quote names
/// in MySQL and SQLite; `escapes` says that the word before was `E`, so that a backslash in quotes
/// takes the next character with it.
fn piece(text: &str, backticks: bool, escapes: bool) -> (usize, Piece) {
    let bytes = text.as_bytes();
    match *bytes {
        [b'-', b'-', ..] => (text.find('\n').unwrap_or(text.len()), Piece::Comment),
        [b'/', b'*', ..] => (block_comment_length(bytes), Piece::Comment),
        [b'\'', ..] => (quoted_length(bytes, b'\'', escapes), Piece::Quoted),
        [b'"', ..] => (quoted_length(bytes, b'"', false), Piece::Quoted),
        [b'`', ..] if backticks => (quoted_length(bytes, b'`', false), Piece::Quoted),
        [b'$', ..] => {
            dollar_quoted_length(text).map_or((1, Piece::Other), |length| (length, Piece::Quoted))
        }
        [first, ..] if starts_name(first) => {
            let continues = |byte: &&u8| continues_name(**byte) || **byte == b'$';
            (bytes.iter().take_while(continues).count(), Piece::Word)
        }
        [b'(', ..] => (1, Piece::Open),
        [b')', ..] => (1, Piece::Close),
        _ => (1, Piece::Other),
    }
}

/// The bare words of an SQL text; quoted texts, comments and signs are passed over.
pub(crate) struct Words<'t> {
    rest: &'t str,
}

impl<'t> Words<'t> {
    /// The words of `text`.
    pub(crate) fn new(text: &'t str) -> Self {
        Self { rest: text }
    }
}

impl<'t> Iterator for Words<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        while !self.rest.is_empty() {
            let (length, piece) = piece(self.rest, true, false);
            let (text, rest) = self.rest.split_at(length);
            self.rest = rest;
            if piece == Piece::Word {
                return Some(text);
            }
        }
        None
    }
}

/// Length of a comment with comments nested in it, to its end or that of the text.
fn block_comment_length(bytes: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        match bytes[at..] {
            [] => return at,
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
}

/// Length of a quoted text, both quotes included. A doubled quote reads as two texts side by side,
/// which comes to the same.
fn quoted_length(bytes: &[u8], quote: u8, backslash_escapes: bool) -> usize {
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte == quote {
            return at;
        }
        if byte == b'\\' && backslash_escapes {
            at += 1;
        }
    }
    bytes.len()
}

/// Length of `$tag$ ... $tag$`; `None` when `text` does not start so.
fn dollar_quoted_length(text: &str) -> Option<usize> {
    let tag_length = match text.as_bytes()[1..] {
        [first, ..] if starts_name(first) => name_length(&text[1..]),
        _ => 0,
    };
    let delimiter = text.get(..tag_length + 2).filter(|delimiter| delimiter.ends_with('$'))?;
    let body = &text[delimiter.len()..];
    let closing = body.find(delimiter).map_or(body.len(), |at| at + delimiter.len());
    Some(delimiter.len() + closing)
}

/// Puts an SQL command together.
#[derive(Default)]
struct Collector {
    sql: Sql,
    started: bool,
    parentheses: u32,
    /// Something other than blanks and comments since the last `\;`.
    statement_begun: bool,
    body: FunctionBody,
    /// The text ends with the word `E` or `e`.
    escape_prefix: bool,
}

impl Collector {
    fn note_start(&mut self, position: usize) {
        if !self.started {
            self.started = true;
            self.sql.start = position;
        }
    }

    fn push(&mut self, text: &str, position: usize, region: Region) {
        let blank = text.bytes().all(|byte| byte.is_ascii_whitespace());
        // Blanks and line comments ahead of a command belong to no command.
        if !self.started && (blank || text.starts_with("--")) {
            return;
        }
        self.note_start(position);
        if region != Region::Plain {
            let start = self.sql.text.len();
            self.sql.spans.push(Span { start, end: start + text.len(), region });
        }
        self.sql.text.push_str(text);
        self.escape_prefix = text.eq_ignore_ascii_case("e");
        if !blank && region != Region::Comment && !self.statement_begun {
            self.statement_begun = true;
            self.sql.statements += 1;
        }
    }

    fn join(&mut self) {
        self.started = true;
        self.sql.joints.push(self.sql.text.len());
        self.sql.text.push(';');
        self.statement_begun = false;
        self.body = FunctionBody::default();
    }

    fn word(&mut self, word: &str) {
        self.body.word(word, self.parentheses == 0);
    }

    fn semicolon_ends(&self) -> bool {
        self.parentheses == 0 && self.body.depth == 0
    }

    fn finish(mut self) -> Sql {
        let length = self.sql.text.trim_end().len();
        self.sql.text.truncate(length);
        self.sql
    }
}

/// Follows `CREATE [OR REPLACE] FUNCTION|PROCEDURE ... BEGIN ATOMIC ... END`, whose semicolons end
/// nothing. A guess from words, as psql's, since only a whole SQL parser would know.
#[derive(Default)]
struct FunctionBody {
    words: u8,
    creates_routine: bool,
    /// `BEGIN` and `CASE` still without their `END`.
    depth: u32,
}

impl FunctionBody {
    fn word(&mut self, word: &str, outside_parentheses: bool) {
        let is = |other: &str| word.eq_ignore_ascii_case(other);
        // Stages: CREATE, then OR and REPLACE or not, then FUNCTION or PROCEDURE.
        self.words = match self.words {
            0 if is("create") => 1,
            1 if is("or") => 2,
            2 if is("replace") => 3,
            1 | 3 if is("function") || is("procedure") => {
                self.creates_routine = true;
                u8::MAX
            }
            _ => u8::MAX,
        };
        if !self.creates_routine || !outside_parentheses {
            return;
        }
        if is("begin") || (is("case") && self.depth > 0) {
            self.depth += 1;
        } else if is("end") {
            self.depth = self.depth.saturating_sub(1);
        }
    }
}
