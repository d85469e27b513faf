//! The functions of expressions: their names, how many arguments each takes, what each computes.

use super::expr::{EvalError, EvalErrorKind, Random};
use super::value::Scalar;
use crate::rng::ScriptRng;
use crate::rng::dist::{self, Bounds};
use crate::rng::hash;

/// Most arguments a call may have.
pub(crate) const MAX_ARGUMENTS: usize = 16;

/// A function that an expression can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Abs,
    Debug,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    Mod,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomPareto,
    RandomZipfian,
    RandomZipfianScattered,
    Sqrt,
}

/// One name of a function.
pub(crate) struct Entry {
    /// As scripts write it; case does not matter.
    pub(crate) name: &'static str,
    /// What it calls.
    pub(crate) function: Function,
    /// Fewest arguments.
    pub(crate) min: usize,
    /// Most arguments; more than [`MAX_ARGUMENTS`] are an error of the run, as in pgbench.
    pub(crate) max: usize,
    /// The last argument may be left out and is then the variable `default_seed`.
    pub(crate) seeded: bool,
}

const fn fixed(name: &'static str, function: Function, count: usize) -> Entry {
    Entry { name, function, min: count, max: count, seeded: false }
}

const fn list(name: &'static str, function: Function) -> Entry {
    Entry { name, function, min: 1, max: usize::MAX, seeded: false }
}

const fn seeded(name: &'static str, function: Function, count: usize) -> Entry {
    Entry { name, function, min: count - 1, max: count, seeded: true }
}

/// All functions, by name. `random_pareto` and `random_zipfian_scattered` are ours.
pub(crate) const FUNCTIONS: [Entry; 24] = [
    fixed("abs", Function::Abs, 1),
    fixed("debug", Function::Debug, 1),
    fixed("double", Function::Double, 1),
    fixed("exp", Function::Exp, 1),
    list("greatest", Function::Greatest),
    seeded("hash", Function::HashMurmur2, 2),
    seeded("hash_fnv1a", Function::HashFnv1a, 2),
    seeded("hash_murmur2", Function::HashMurmur2, 2),
    fixed("int", Function::Int, 1),
    list("least", Function::Least),
    fixed("ln", Function::Ln, 1),
    fixed("mod", Function::Mod, 2),
    seeded("permute", Function::Permute, 3),
    fixed("pi", Function::Pi, 0),
    fixed("pow", Function::Power, 2),
    fixed("power", Function::Power, 2),
    fixed("random", Function::Random, 2),
    fixed("random_exponential", Function::RandomExponential, 3),
    fixed("random_gaussian", Function::RandomGaussian, 3),
    fixed("random_pareto", Function::RandomPareto, 3),
    fixed("random_zipfian", Function::RandomZipfian, 3),
    seeded("random_zipfian_scattered", Function::RandomZipfianScattered, 4),
    fixed("sqrt", Function::Sqrt, 1),
    // Its argument is a template, not an expression: the parser looks at the name itself.
    fixed(RANDOM_STRING, Function::Random, 1),
];

/// The function whose argument is a template and whose result is text.
pub(crate) const RANDOM_STRING: &str = "random_string";

/// The function called `name`, in any case.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    FUNCTIONS.iter().find(|entry| entry.name.eq_ignore_ascii_case(name))
}

/// Calls `function`, whose arguments hold no NULL unless it is `debug`, which the caller serves.
pub(crate) fn call(
    function: Function,
    args: &[Scalar],
    rng: &mut ScriptRng,
) -> Result<Scalar, EvalError> {
    match (function, args) {
        (Function::Abs, &[Scalar::Int(x)]) => Ok(Scalar::Int(x.wrapping_abs())),
        (Function::Abs, &[x]) => Ok(Scalar::Double(to_double(x)?.abs())),
        (Function::Double, &[x]) => Ok(Scalar::Double(to_double(x)?)),
        (Function::Exp, &[x]) => Ok(Scalar::Double(to_double(x)?.exp())),
        (Function::Int, &[x]) => Ok(Scalar::Int(to_int(x)?)),
        (Function::Ln, &[x]) => Ok(Scalar::Double(to_double(x)?.ln())),
        (Function::Sqrt, &[x]) => Ok(Scalar::Double(to_double(x)?.sqrt())),
        (Function::Pi, &[]) => Ok(Scalar::Double(std::f64::consts::PI)),
        (Function::Power, &[x, y]) => Ok(Scalar::Double(to_double(x)?.powf(to_double(y)?))),
        (Function::Mod, &[x, y]) => remainder(to_int(x)?, to_int(y)?),
        (Function::Greatest, args) => extreme(args, |old, new| old > new, |old, new| old > new),
        (Function::Least, args) => extreme(args, |old, new| old < new, |old, new| old < new),
        (Function::HashFnv1a, &[v, seed]) => {
            Ok(Scalar::Int(hash::fnv1a(to_int(v)?, to_int(seed)?)))
        }
        (Function::HashMurmur2, &[v, seed]) => {
            Ok(Scalar::Int(hash::murmur2(to_int(v)?, to_int(seed)?)))
        }
        (Function::Permute, &[v, size, seed]) => {
            let (v, size, seed) = (to_int(v)?, to_int(size)?, to_int(seed)?);
            if size <= 0 {
                return Err(EvalErrorKind::PermuteSize(size).into());
            }
            Ok(Scalar::Int(hash::permute(v, size, seed)))
        }
        (_, args) => random(function, args, rng),
    }
}

/// Draws from the distribution that `function` names.
fn random(function: Function, args: &[Scalar], rng: &mut ScriptRng) -> Result<Scalar, EvalError> {
    let [low, high, parameters @ ..] = args else {
        unreachable!("the parser has checked the number of arguments")
    };
    let bounds = Bounds::new(to_int(*low)?, to_int(*high)?)
        .map_err(|e| EvalErrorKind::Range(Box::new(e)))?;
    let [parameter, rest @ ..] = parameters else {
        return Ok(Scalar::Int(dist::uniform(rng, bounds)));
    };
    let parameter = to_double(*parameter)?;
    let refuse = |random| Err(EvalErrorKind::Parameter { random, given: parameter }.into());
    // Written so that NaN is refused, too.
    Ok(Scalar::Int(match function {
        Function::RandomExponential if parameter > 0.0 => dist::exponential(rng, bounds, parameter),
        Function::RandomExponential => return refuse(Random::Exponential),
        Function::RandomGaussian if parameter >= dist::GAUSSIAN_MIN => {
            dist::gaussian(rng, bounds, parameter)
        }
        Function::RandomGaussian => return refuse(Random::Gaussian),
        Function::RandomPareto if parameter > 0.0 && parameter < 1.0 => {
            dist::pareto(rng, bounds, parameter)
        }
        Function::RandomPareto => return refuse(Random::Pareto),
        _ if !(parameter > 0.0 && parameter <= dist::ZIPFIAN_MAX) => {
            return refuse(Random::Zipfian);
        }
        _ => match rest {
            [seed] => dist::zipfian_scattered(rng, bounds, parameter, to_int(*seed)?),
            _ => dist::zipfian(rng, bounds, parameter),
        },
    }))
}

/// The greatest or least of `args`: doubles when one of them is. The comparisons say whether the
/// best so far stays, so that a later NaN replaces it, as in pgbench.
fn extreme(
    args: &[Scalar],
    int_stays: fn(i64, i64) -> bool,
    double_stays: fn(f64, f64) -> bool,
) -> Result<Scalar, EvalError> {
    let (first, rest) = args.split_first().expect("the parser wants at least one argument");
    if args.iter().any(|arg| matches!(arg, Scalar::Double(_))) {
        let mut best = to_double(*first)?;
        for arg in rest {
            let new = to_double(*arg)?;
            best = if double_stays(best, new) { best } else { new };
        }
        return Ok(Scalar::Double(best));
    }
    let mut best = to_int(*first)?;
    for arg in rest {
        let new = to_int(*arg)?;
        best = if int_stays(best, new) { best } else { new };
    }
    Ok(Scalar::Int(best))
}

/// The remainder, with the sign of the dividend.
pub(crate) fn remainder(dividend: i64, divisor: i64) -> Result<Scalar, EvalError> {
    if divisor == 0 {
        return Err(EvalErrorKind::DivisionByZero.into());
    }
    Ok(Scalar::Int(dividend.wrapping_rem(divisor)))
}

/// An integer; doubles are rounded half to even and must fit.
pub(crate) fn to_int(value: Scalar) -> Result<i64, EvalError> {
    match value {
        Scalar::Int(int) => Ok(int),
        Scalar::Double(double) => {
            let rounded = double.round_ties_even();
            // -2^63 is exact in a double, and 2^63 is the first that does not fit.
            const LIMIT: f64 = 9_223_372_036_854_775_808.0;
            if (-LIMIT..LIMIT).contains(&rounded) {
                #[expect(clippy::cast_possible_truncation, reason = "checked above")]
                Ok(rounded as i64)
            } else {
                Err(EvalErrorKind::DoubleToInt(double).into())
            }
        }
        other => Err(EvalErrorKind::Coerce { from: other.type_name(), to: "int" }.into()),
    }
}

/// A double; integers beyond 2^53 are rounded.
pub(crate) fn to_double(value: Scalar) -> Result<f64, EvalError> {
    match value {
        Scalar::Double(double) => Ok(double),
        Scalar::Int(int) => Ok(int as f64),
        other => Err(EvalErrorKind::Coerce { from: other.type_name(), to: "double" }.into()),
    }
}

/// A boolean; nothing else becomes one.
pub(crate) fn to_bool(value: Scalar) -> Result<bool, EvalError> {
    match value {
        Scalar::Bool(truth) => Ok(truth),
        other => Err(EvalErrorKind::Coerce { from: other.type_name(), to: "boolean" }.into()),
    }
}
