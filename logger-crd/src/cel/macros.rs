//! The macros of the server's environment: calls that are loops, tests and bindings in truth.

use super::{
    parser::Nodes,
    syntax::{ACCUMULATOR, Call, Comprehension, Element, Expr, ExprKind, Literal, Select, operator},
};

/// A variable no source can write, for the loop of a binding.
const UNUSED: &str = "#unused";

/// A call of a function by its name.
pub(super) fn global(nodes: &mut Nodes, open: usize, function: String, mut args: Vec<Expr>) -> Expr {
    if function != "has" || args.len() != 1 {
        return nodes.make(open, ExprKind::Call(Call { function, target: None, args }));
    }
    match args.remove(0) {
        Expr { kind: ExprKind::Select(select), .. } => {
            let test = Select { is_test: true, ..*select };
            nodes.make(open, ExprKind::Select(Box::new(test)))
        }
        other => {
            let at = nodes.offset(other.id);
            nodes.broken(at, "invalid argument to has() macro")
        }
    }
}

/// A call on a value.
pub(super) fn member(nodes: &mut Nodes, open: usize, function: String, target: Expr, args: Vec<Expr>) -> Expr {
    let mut expansion = Expansion { nodes, at: open };
    let expanded = match (function.as_str(), args.len()) {
        ("all" | "exists" | "exists_one", 2) => expansion.quantifier(&function, target, args),
        ("map" | "filter", 2) | ("map", 3) => expansion.gather(&function, target, args),
        ("all" | "exists" | "exists_one" | "existsOne", 3) => expansion.quantifier_of_two(&function, target, args),
        ("transformList" | "transformMap" | "transformMapEntry", 3 | 4) => expansion.transform(&function, target, args),
        ("optMap" | "optFlatMap", 2) => expansion.optional(&function, target, args),
        ("sortBy", 2) => expansion.sort_by(target, args),
        _ => return nodes.make(open, ExprKind::Call(Call { function, target: Some(Box::new(target)), args })),
    };
    expanded.unwrap_or_else(|Misuse { at, message }| nodes.broken(at, message))
}

/// A macro whose arguments are not what it needs.
struct Misuse {
    at: usize,
    message: String,
}

struct Expansion<'a> {
    nodes: &'a mut Nodes,
    /// All nodes of an expansion stand where its call does.
    at: usize,
}

impl Expansion<'_> {
    fn make(&mut self, kind: ExprKind) -> Expr {
        self.nodes.make(self.at, kind)
    }

    fn literal(&mut self, value: Literal) -> Expr {
        self.make(ExprKind::Literal(value))
    }

    fn ident(&mut self, name: &str) -> Expr {
        self.make(ExprKind::Ident(name.to_owned()))
    }

    fn accumulator(&mut self) -> Expr {
        self.ident(ACCUMULATOR)
    }

    fn call(&mut self, function: &str, args: Vec<Expr>) -> Expr {
        self.make(ExprKind::Call(Call { function: function.to_owned(), target: None, args }))
    }

    fn member_call(&mut self, function: &str, target: Expr, args: Vec<Expr>) -> Expr {
        self.make(ExprKind::Call(Call { function: function.to_owned(), target: Some(Box::new(target)), args }))
    }

    fn list(&mut self, values: Vec<Expr>) -> Expr {
        let elements = values.into_iter().map(|value| Element { value, is_optional: false }).collect();
        self.make(ExprKind::List(elements))
    }

    fn misuse(&self, of: &Expr, message: impl Into<String>) -> Misuse {
        Misuse { at: self.nodes.offset(of.id), message: message.into() }
    }

    /// The variable an argument names.
    fn variable(&self, arg: &Expr, otherwise: &str) -> Result<String, Misuse> {
        match &arg.kind {
            ExprKind::Ident(name) if name == "__result__" => {
                Err(self.misuse(arg, "iteration variable overwrites accumulator variable"))
            }
            ExprKind::Ident(name) => Ok(name.clone()),
            _ => Err(self.misuse(arg, otherwise)),
        }
    }

    fn two_variables(&self, first: &Expr, second: &Expr) -> Result<(String, String), Misuse> {
        let name = |arg: &Expr| match &arg.kind {
            ExprKind::Ident(name) => Ok(name.clone()),
            _ => Err(self.misuse(arg, "argument must be a simple name")),
        };
        let names = (name(first)?, name(second)?);
        if names.0 == names.1 {
            return Err(self.misuse(second, format!("duplicate variable name: {}", names.0)));
        }
        self.variable(first, "")?;
        self.variable(second, "")?;
        Ok(names)
    }

    fn quantifier(&mut self, function: &str, range: Expr, args: Vec<Expr>) -> Result<Expr, Misuse> {
        let [name, predicate] = take(args);
        let variable = self.variable(&name, "argument must be a simple name")?;
        Ok(self.quantified(function, range, variable, None, predicate))
    }

    fn quantifier_of_two(&mut self, function: &str, range: Expr, args: Vec<Expr>) -> Result<Expr, Misuse> {
        let [first, second, predicate] = take(args);
        let (first, second) = self.two_variables(&first, &second)?;
        Ok(self.quantified(function, range, first, Some(second), predicate))
    }

    fn quantified(
        &mut self,
        function: &str,
        range: Expr,
        variable: String,
        second_variable: Option<String>,
        predicate: Expr,
    ) -> Expr {
        let (start, condition, step, result) = match function {
            "all" => self.logical(true, predicate),
            "exists" => self.logical(false, predicate),
            _ => self.counted(predicate),
        };
        let accumulator = ACCUMULATOR.to_owned();
        let loops = Comprehension { range, variable, second_variable, accumulator, start, condition, step, result };
        self.make(ExprKind::Comprehension(Box::new(loops)))
    }

    /// Start, condition, step and result of `all` (`neutral` is true) and `exists`.
    fn logical(&mut self, neutral: bool, predicate: Expr) -> (Expr, Expr, Expr, Expr) {
        let start = self.literal(Literal::Bool(neutral));
        let mut so_far = self.accumulator();
        if !neutral {
            so_far = self.call(operator::NOT, vec![so_far]);
        }
        let condition = self.call(operator::NOT_STRICTLY_FALSE, vec![so_far]);
        let accumulator = self.accumulator();
        let step = self.call(if neutral { operator::AND } else { operator::OR }, vec![accumulator, predicate]);
        (start, condition, step, self.accumulator())
    }

    fn counted(&mut self, predicate: Expr) -> (Expr, Expr, Expr, Expr) {
        let start = self.literal(Literal::Int(0));
        let condition = self.literal(Literal::Bool(true));
        let (so_far, one) = (self.accumulator(), self.literal(Literal::Int(1)));
        let more = self.call(operator::ADD, vec![so_far, one]);
        let same = self.accumulator();
        let step = self.call(operator::CONDITIONAL, vec![predicate, more, same]);
        let (count, one) = (self.accumulator(), self.literal(Literal::Int(1)));
        let result = self.call(operator::EQUALS, vec![count, one]);
        (start, condition, step, result)
    }

    /// `map` and `filter`.
    fn gather(&mut self, function: &str, range: Expr, mut args: Vec<Expr>) -> Result<Expr, Misuse> {
        let name = args.remove(0);
        let variable = self.variable(&name, "argument is not an identifier")?;
        let last = args.pop().expect("the macro has two or three arguments");
        let (predicate, value) = match function {
            "filter" => (Some(last), name),
            _ => (args.pop(), last),
        };
        let start = self.list(Vec::new());
        let item = self.list(vec![value]);
        let so_far = self.accumulator();
        let more = self.call(operator::ADD, vec![so_far, item]);
        Ok(self.gathered(range, variable, None, start, more, predicate))
    }

    /// A loop that adds to its result, if `predicate` holds.
    fn gathered(
        &mut self,
        range: Expr,
        variable: String,
        second_variable: Option<String>,
        start: Expr,
        more: Expr,
        predicate: Option<Expr>,
    ) -> Expr {
        let condition = self.literal(Literal::Bool(true));
        let step = match predicate {
            None => more,
            Some(predicate) => {
                let same = self.accumulator();
                self.call(operator::CONDITIONAL, vec![predicate, more, same])
            }
        };
        let result = self.accumulator();
        let accumulator = ACCUMULATOR.to_owned();
        let loops = Comprehension { range, variable, second_variable, accumulator, start, condition, step, result };
        self.make(ExprKind::Comprehension(Box::new(loops)))
    }

    fn transform(&mut self, function: &str, range: Expr, mut args: Vec<Expr>) -> Result<Expr, Misuse> {
        let (first, second) = self.two_variables(&args[0], &args[1])?;
        let value = args.pop().expect("the macro has three or four arguments");
        let predicate = args.drain(2..).next();
        let so_far = self.accumulator();
        let (start, more) = match function {
            "transformList" => {
                let item = self.list(vec![value]);
                let more = self.call(operator::ADD, vec![so_far, item]);
                (self.list(Vec::new()), more)
            }
            "transformMap" => {
                let key = self.ident(&first);
                let more = self.call(operator::MAP_INSERT, vec![so_far, key, value]);
                (self.make(ExprKind::Map(Vec::new())), more)
            }
            _ => {
                let more = self.call(operator::MAP_INSERT, vec![so_far, value]);
                (self.make(ExprKind::Map(Vec::new())), more)
            }
        };
        Ok(self.gathered(range, first, Some(second), start, more, predicate))
    }

    fn optional(&mut self, function: &str, target: Expr, args: Vec<Expr>) -> Result<Expr, Misuse> {
        let [name, body] = take(args);
        let ExprKind::Ident(variable) = &name.kind else {
            return Err(self.misuse(&name, format!("{function}() variable name must be a simple identifier")));
        };
        let again = self.nodes.copy(&target);
        let value = self.member_call("value", again, Vec::new());
        let has = self.member_call("hasValue", target, Vec::new());
        let mut bound = self.binding(variable.clone(), value, body);
        if function == "optMap" {
            bound = self.call("optional.of", vec![bound]);
        }
        let none = self.call("optional.none", Vec::new());
        Ok(self.call(operator::CONDITIONAL, vec![has, bound, none]))
    }

    /// `body`, in which `variable` is `value`.
    fn binding(&mut self, variable: String, value: Expr, body: Expr) -> Expr {
        let range = self.list(Vec::new());
        let condition = self.literal(Literal::Bool(false));
        let step = self.ident(&variable);
        let loops = Comprehension {
            range,
            variable: UNUSED.to_owned(),
            second_variable: None,
            accumulator: variable,
            start: value,
            condition,
            step,
            result: body,
        };
        self.make(ExprKind::Comprehension(Box::new(loops)))
    }

    fn sort_by(&mut self, target: Expr, args: Vec<Expr>) -> Result<Expr, Misuse> {
        const INPUT: &str = "@__sortBy_input__";
        if matches!(target.kind, ExprKind::Literal(_) | ExprKind::Map(_) | ExprKind::Struct(_)) {
            let message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
            return Err(self.misuse(&target, message));
        }
        let input = self.ident(INPUT);
        let keys = self.gather("map", input, args)?;
        let input = self.ident(INPUT);
        let sorted = self.member_call(operator::SORT_BY_KEYS, input, vec![keys]);
        Ok(self.binding(INPUT.to_owned(), target, sorted))
    }
}

/// The arguments of a macro that has `N`.
fn take<const N: usize>(args: Vec<Expr>) -> [Expr; N] {
    args.try_into().unwrap_or_else(|_| unreachable!("the macro is chosen by its number of arguments"))
}
