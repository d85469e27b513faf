//! Random expressions of pgbench's language: mostly well typed, sometimes not, sometimes mutilated.

use dbload::rng::ScriptRng;

/// Variables that the expressions use, as `-D` gives them.
pub(crate) const VARIABLES: [(&str, &str); 14] = [
    ("i", "7"),
    ("neg", "-3"),
    ("zero", "0"),
    ("blank", " 12"),
    ("max", "9223372036854775807"),
    ("min", "-9223372036854775808"),
    ("d", "2.5"),
    ("hex", "0x10"),
    ("big", "1e300"),
    ("t", "ye"),
    ("f", "OFF"),
    ("n", "Null"),
    ("bad", "1x"),
    ("huge", "99999999999999999999"),
];

const INTS: [&str; 16] = [
    "0",
    "1",
    "2",
    "3",
    "5",
    "10",
    "17",
    "63",
    "64",
    "100",
    "1000000",
    "4611686018427387904",
    "9223372036854775807",
    "-9223372036854775808",
    "4294967296",
    "007",
];
const DOUBLES: [&str; 16] = [
    "0.0",
    "0.5",
    ".5",
    "1.",
    "1.5",
    "2.5",
    "3.5",
    "-0.0",
    "1e10",
    "1E-5",
    "9.2e18",
    "9223372036854775808.0",
    "1e308",
    "3.14159265358979",
    "123456789.123456789",
    "1e-300",
];

#[derive(Clone, Copy, PartialEq)]
enum Want {
    Number,
    Bool,
}

/// Makes expressions from a seed.
pub(crate) struct Generator {
    rng: ScriptRng,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: ScriptRng::new(seed) }
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.rng.up_to(count as u64 - 1)).unwrap()
    }

    fn pick<'a>(&mut self, options: &[&'a str]) -> &'a str {
        options[self.below(options.len())]
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// One expression.
    pub(crate) fn expression(&mut self) -> String {
        let want = if self.one_in(3) { Want::Bool } else { Want::Number };
        let depth = 1 + self.below(4);
        let text = self.any(depth, want, false);
        if self.one_in(20) { self.mutilate(&text) } else { text }
    }

    /// `strict` forbids a value of another type than wanted (NULL is of every type).
    fn any(&mut self, depth: usize, want: Want, strict: bool) -> String {
        let other = if want == Want::Bool { Want::Number } else { Want::Bool };
        let want = if !strict && self.one_in(25) { other } else { want };
        let text = match (want, depth) {
            (Want::Number, 0) => self.number(strict),
            (Want::Bool, 0) => self.pick(&["TRUE", "false", "True", "NULL", ":t", ":f"]).to_owned(),
            (Want::Number, _) => self.numeric(depth - 1, strict),
            (Want::Bool, _) => self.boolean(depth - 1),
        };
        let blank = self.pick(&["", "", " ", "\t", " \\\n "]);
        // Often without parentheses, so that precedence decides; an operand of another type inside
        // would break strictness.
        if depth > 0 && (strict || self.one_in(2)) {
            format!("({blank}{text})")
        } else {
            format!("{blank}{text}")
        }
    }

    fn number(&mut self, strict: bool) -> String {
        match self.below(10) {
            0..=3 => self.pick(&INTS).to_owned(),
            4..=6 => self.pick(&DOUBLES).to_owned(),
            7 => self.pick(&["NULL", ":n", ":scale", ":client_id", ":random_seed"]).to_owned(),
            8 if !strict && self.one_in(3) => {
                self.pick(&[":bad", ":huge", ":undefined", ":i", ":default_seed"]).to_owned()
            }
            _ => self
                .pick(&[":i", ":neg", ":zero", ":blank", ":max", ":min", ":d", ":hex", ":big"])
                .to_owned(),
        }
    }

    fn numeric(&mut self, depth: usize, strict: bool) -> String {
        match self.below(12) {
            0..=4 => {
                let operator =
                    self.pick(&["+", "-", "*", "/", "%", "+", "-", "*", "|", "&", "#", "<<", ">>"]);
                let left = self.any(depth, Want::Number, strict);
                let right = self.any(depth, Want::Number, strict);
                let blank = self.pick(&["", " "]);
                format!("{left}{blank}{operator}{blank}{right}")
            }
            5 => {
                let sign = self.pick(&["-", "+", "~", "- ", "-+"]);
                format!("{sign}{}", self.any(depth, Want::Number, strict))
            }
            6 => self.case(depth, Want::Number, strict),
            7 => self.random(depth),
            _ => self.call(depth),
        }
    }

    fn boolean(&mut self, depth: usize) -> String {
        match self.below(9) {
            0..=2 => {
                let operator = self.pick(&["<", ">", "=", "<=", ">=", "<>", "!="]);
                let left = self.any(depth, Want::Number, false);
                format!("{left} {operator} {}", self.any(depth, Want::Number, false))
            }
            3..=5 => {
                let operator = self.pick(&["AND", "or", "OR", "And"]);
                let left = self.any(depth, Want::Bool, false);
                format!("{left} {operator} {}", self.any(depth, Want::Bool, false))
            }
            6 => format!("NOT {}", self.any(depth, Want::Bool, false)),
            7 => {
                let test = self.pick(&[
                    "IS NULL",
                    "is not null",
                    "ISNULL",
                    "NOTNULL",
                    "IS TRUE",
                    "IS NOT TRUE",
                    "IS FALSE",
                    "is not FALSE",
                ]);
                let want = if self.one_in(2) { Want::Bool } else { Want::Number };
                format!("{} {test}", self.any(depth, want, false))
            }
            _ => self.case(depth, Want::Bool, false),
        }
    }

    fn case(&mut self, depth: usize, want: Want, strict: bool) -> String {
        let mut text = self.pick(&["CASE", "case"]).to_owned();
        for _ in 0..=self.below(2) {
            let of = if self.one_in(2) { Want::Bool } else { Want::Number };
            let condition = self.any(depth, of, false);
            let value = self.any(depth, want, strict);
            text += &format!(" WHEN {condition} THEN {value}");
        }
        if self.one_in(2) {
            text += &format!(" else {}", self.any(depth, want, strict));
        }
        text + " END"
    }

    fn call(&mut self, depth: usize) -> String {
        let function = self.pick(&[
            "abs",
            "debug",
            "double",
            "exp",
            "greatest",
            "least",
            "hash",
            "hash_fnv1a",
            "hash_murmur2",
            "Int",
            "LN",
            "mod",
            "permute",
            "pi",
            "pow",
            "power",
            "sqrt",
        ]);
        let most = if self.one_in(20) { 20 } else { 4 };
        let count = match function {
            "pi" => 0,
            "mod" | "pow" | "power" => 2,
            "greatest" | "least" => 1 + self.below(most),
            "hash" | "hash_fnv1a" | "hash_murmur2" => 1 + self.below(2),
            "permute" => 2 + self.below(2),
            _ => 1,
        };
        // A wrong number of arguments must be refused by both.
        let count = if self.one_in(60) { count + 1 } else { count };
        // pgbench reads a boolean's bytes as a double in abs().
        let strict = matches!(function, "abs" | "debug");
        let arguments: Vec<String> =
            (0..count).map(|_| self.any(depth.min(2), Want::Number, strict)).collect();
        format!("{function}({})", arguments.join(","))
    }

    /// Bounds may be anything; the parameter is a constant, since NaN hangs pgbench.
    fn random(&mut self, depth: usize) -> String {
        let low = self.any(depth.min(1), Want::Number, false);
        let high = self.any(depth.min(1), Want::Number, false);
        let range = if self.one_in(3) { format!("{low}, {high}") } else { "1, 1000".to_owned() };
        match self.below(4) {
            0 => format!("random({range})"),
            1 => {
                let parameter = self.pick(&["0.5", "1", "10", "0", "-1", "NULL", "2.5"]);
                format!("random_exponential({range}, {parameter})")
            }
            2 => {
                let parameter = self.pick(&["2", "2.0", "5.5", "1.9", "NULL"]);
                format!("random_gaussian({range}, {parameter})")
            }
            _ => {
                // Under 1.001 pgbench refuses, dbload does not.
                let parameter = self.pick(&["1.2", "2", "1000", "1001", "0", "-1", "1.5"]);
                format!("random_zipfian({range}, {parameter})")
            }
        }
    }

    /// Drops or doubles a few characters.
    fn mutilate(&mut self, text: &str) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        let at = self.below(chars.len());
        if self.one_in(2) {
            chars.remove(at);
        } else {
            let other = chars[self.below(chars.len())];
            chars.insert(at, other);
        }
        chars.into_iter().collect()
    }
}
