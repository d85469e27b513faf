//! Writes a statement for an engine: placeholders, transaction verbs, and what kind it is.

use super::Dialect;
use super::lexer::{Form, Region, Sql, Use, Words};
use super::program::{Part, Statement, StatementKind};
use super::variables::Variables;

/// Most uses of variables in one statement that pgbench prepares.
pub(crate) const MAX_USES: usize = 255;

/// A statement, and why it cannot be prepared if so.
pub(crate) struct Rendered {
    pub(crate) statement: Statement,
    pub(crate) obstacle: Option<String>,
}

/// Where a command stands, and for which table of a set it is written (0: there is no set).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) script: u32,
    pub(crate) line: u32,
    pub(crate) table: u32,
}

/// Renders the command `sql`, whose uses of variables are `uses`.
pub(crate) fn statement(
    sql: &Sql,
    uses: &[Use],
    place: Place,
    dialect: Dialect,
    variables: &mut Variables,
) -> Rendered {
    let kind = command_kind(sql);
    let mut parts = Vec::new();
    let mut with_placeholders = String::with_capacity(sql.text.len());
    let mut params = Vec::with_capacity(uses.len());
    match verb(sql, kind, dialect) {
        Some(verb) => {
            with_placeholders.push_str(verb);
            parts.push(Part::Text(verb.to_owned()));
        }
        None => {
            let mut at = 0;
            for &one in uses {
                let Use { start, end, form, .. } = one;
                if at < start {
                    parts.push(Part::Text(sql.text[at..start].to_owned()));
                    with_placeholders.push_str(&sql.text[at..start]);
                }
                at = end;
                if form == Form::Table {
                    let number = place.table.to_string();
                    with_placeholders.push_str(&number);
                    parts.push(Part::Text(number));
                    continue;
                }
                let name = one.name(&sql.text).to_owned();
                let slot = variables.slot(&name);
                params.push(slot);
                placeholder(&mut with_placeholders, params.len(), dialect);
                parts.push(match form {
                    Form::Literal => {
                        Part::Literal { slot, name, backslash: dialect == Dialect::Mysql }
                    }
                    _ => Part::Variable { slot, name },
                });
            }
            if at < sql.text.len() {
                parts.push(Part::Text(sql.text[at..].to_owned()));
                with_placeholders.push_str(&sql.text[at..]);
            }
        }
    }
    let statement = Statement {
        script: place.script,
        line: place.line,
        table: place.table,
        text: sql.text.clone(),
        parts,
        sql: with_placeholders,
        params: params.into_boxed_slice(),
        kind,
        statements: sql.statements.max(1),
    };
    Rendered { statement, obstacle: obstacle(sql, uses) }
}

/// Each use has a placeholder of its own, even of the same variable: PostgreSQL gives a parameter
/// one type, and `VALUES (:x, :x)` may need two.
fn placeholder(out: &mut String, number: usize, dialect: Dialect) {
    match dialect {
        Dialect::Postgres => out.push('$'),
        Dialect::Sqlite => out.push('?'),
        Dialect::Mysql => return out.push('?'),
    }
    out.push_str(itoa::Buffer::new().format(number));
}

/// Why a command can only be sent in simple protocol.
fn obstacle(sql: &Sql, uses: &[Use]) -> Option<String> {
    if sql.is_compound() {
        return Some("it joins statements with \\;".to_owned());
    }
    if let Some(quoted) = uses.iter().find(|one| one.region == Region::Quoted) {
        let name = &sql.text[quoted.start..quoted.end];
        return Some(format!("it has the variable {name} inside quotes"));
    }
    (uses.len() > MAX_USES)
        .then(|| format!("it uses variables {} times, {MAX_USES} is the most", uses.len()))
}

/// The engine's word for a plain transaction verb; `None` when the text stays as it is.
fn verb(sql: &Sql, kind: StatementKind, dialect: Dialect) -> Option<&'static str> {
    if sql.is_compound() {
        return None;
    }
    let (begin, commit, rollback) = match dialect {
        Dialect::Postgres => return None,
        Dialect::Mysql => ("START TRANSACTION", "COMMIT", "ROLLBACK"),
        // A deferred block that reads first cannot always be upgraded to a writing one.
        Dialect::Sqlite => ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"),
    };
    // Anything beyond the plain forms (`BEGIN EXCLUSIVE`, `ROLLBACK TO x`) is the engine's own.
    let mut words = Words::new(&sql.text);
    let first = words.next()?;
    let second = words.next();
    let has = |word: &str| second.is_some_and(|second| second.eq_ignore_ascii_case(word));
    let is_start = first.eq_ignore_ascii_case("start");
    let plain = match second {
        None => !is_start,
        Some(_) => (has("transaction") || (has("work") && !is_start)) && words.next().is_none(),
    };
    match kind {
        _ if !plain => None,
        StatementKind::Begin => Some(begin),
        StatementKind::Commit => Some(commit),
        StatementKind::Rollback => Some(rollback),
        _ => None,
    }
}

/// The kind of a single statement.
fn kind(text: &str) -> StatementKind {
    let mut words = Words::new(text);
    let Some(first) = words.next() else { return StatementKind::Other };
    let is = |names: &[&str]| names.iter().any(|name| first.eq_ignore_ascii_case(name));
    if is(&["select", "table", "values"]) {
        StatementKind::Read
    } else if is(&["insert", "update", "delete", "merge", "replace", "copy"]) {
        StatementKind::Write
    } else if is(&["with"]) {
        if writes_inside(words) { StatementKind::Write } else { StatementKind::Read }
    } else if is(&["begin"]) {
        StatementKind::Begin
    } else if is(&["start"]) {
        let transaction = words.next().is_some_and(|w| w.eq_ignore_ascii_case("transaction"));
        if transaction { StatementKind::Begin } else { StatementKind::Other }
    } else if is(&["commit", "end"]) {
        // COMMIT PREPARED ends another session's block.
        let prepared = words.next().is_some_and(|w| w.eq_ignore_ascii_case("prepared"));
        if prepared { StatementKind::Other } else { StatementKind::Commit }
    } else if is(&["rollback", "abort"]) {
        let partly = |w: &str| w.eq_ignore_ascii_case("to") || w.eq_ignore_ascii_case("prepared");
        // ROLLBACK [WORK] TO SAVEPOINT leaves the block open.
        if words.take(2).any(partly) { StatementKind::Other } else { StatementKind::Rollback }
    } else {
        StatementKind::Other
    }
}

/// Whether a WITH statement has a writing verb; `FOR UPDATE` is none.
fn writes_inside(words: Words<'_>) -> bool {
    let mut before = "";
    for word in words {
        let locks = before.eq_ignore_ascii_case("for") || before.eq_ignore_ascii_case("key");
        let verbs = ["insert", "update", "delete", "merge"];
        if !locks && verbs.iter().any(|verb| word.eq_ignore_ascii_case(verb)) {
            return true;
        }
        before = word;
    }
    false
}

/// The kind of a command. Of statements joined together: writing, if one of them writes; else
/// reading, if one of them reads; else that of the first which has one.
fn command_kind(sql: &Sql) -> StatementKind {
    let kinds: Vec<StatementKind> = sql.each_statement().map(kind).collect();
    [StatementKind::Write, StatementKind::Read]
        .into_iter()
        .find(|wanted| kinds.contains(wanted))
        .or_else(|| kinds.into_iter().find(|kind| *kind != StatementKind::Other))
        .unwrap_or(StatementKind::Other)
}
