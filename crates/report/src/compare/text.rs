//! A comparison as text, at most as wide as the page.

use crate::compare::comparison::{Causes, Compared, Comparison, Key};
use crate::compare::limit;
use crate::difference::{Difference, Pairing, SHOWN, cells};
use crate::figure::Quantity;
use crate::summary::ConfigValue;
use crate::tables::{beyond, capital, plural};
use crate::text::{Grid, cut, duration, wrapped};
use tailcut_units::HostOp;

/// The levels of the blame that are printed, as far as both have them.
const BLAME: [f64; 2] = [0.0, 99.9];

/// A cause whose time differs by less than this share of the mean latency, at every level shown, is summed up with others.
const SMALL: f64 = 0.005;

impl Comparison {
    /// The whole text.
    pub fn text(&self) -> String {
        let mut out = wrapped(&self.head(), 9);
        for note in &self.notes {
            out.push_str(&wrapped(&format!("! {note}\n"), 2));
        }
        out.push_str(&self.figures());
        for op in HostOp::ALL {
            out.push_str(&self.causes(op));
        }
        out.push_str(&self.keys());
        out.push_str(&limit::table(&self.limits));
        out
    }

    fn head(&self) -> String {
        let side = |name: &str, c: &Compared| {
            let runs = if c.runs > 1 { format!(", {} runs", c.runs) } else { String::new() };
            format!("{name}        {} on {}{runs} ({})\n", c.scheme, c.device, c.file)
        };
        let mut out = side("A", &self.a) + &side("B", &self.b);
        let how = match (self.inputs.same_requests, self.inputs.pairing) {
            (true, Pairing::Runs) => "same requests; differences are taken run by run",
            (true, Pairing::Batches) => "same requests; differences are taken batch by batch",
            (true, Pairing::None) => "same requests, but not as many runs: differences are not paired",
            (false, _) => {
                "NOT THE SAME REQUESTS: differences are not paired, and include what the requests do"
            }
        };
        out.push_str(&format!("inputs   {how}\n"));
        for unlike in &self.inputs.unlike {
            out.push_str(&format!("         {}: A {}, B {}\n", unlike.input, unlike.a, unlike.b));
        }
        let version = |c: &Compared| format!("{} (tailcut {})", c.model_version, c.tailcut);
        out.push_str(&match self.inputs.same_model {
            true => format!("model    the same version, {}\n", self.a.model_version),
            false => format!(
                "model    NOT THE SAME VERSION: A {}, B {}; differences include those of the model\n",
                version(&self.a),
                version(&self.b)
            ),
        });
        out
    }

    fn figures(&self) -> String {
        let wanted: Vec<(String, Quantity)> =
            Quantity::all(&SHOWN).into_iter().map(|q| (q.to_string(), q)).collect();
        let shown = |d: &&Difference| wanted.iter().any(|(name, _)| *name == d.figure);
        let rows: Vec<&Difference> = self.figures.iter().filter(shown).collect();
        if rows.is_empty() {
            return "\nnothing to compare: no kind of request completed in both\n".to_string();
        }
        let mut grid = Grid::default();
        grid.row(["figure", "A ", "B ", "B to A", "95 % from", "to", "verdict"].map(String::from));
        grid.rule();
        for d in &rows {
            let quantity = wanted.iter().find(|(name, _)| *name == d.figure).map(|(_, q)| *q);
            let value = |v: f64| {
                let mark = if d.thin { "*" } else { " " };
                quantity.map_or(String::new(), |q| q.shown(v)) + mark
            };
            grid.row([d.figure.clone(), value(d.a), value(d.b)].into_iter().chain(cells(d)));
        }
        let mut out =
            format!("\nFigures, with the 95 % confidence interval of the difference\n{}", grid.render());
        if rows.iter().any(|d| d.thin) {
            out.push_str("* fewer than 10 requests beyond it: uncertain\n");
        }
        if rows.iter().any(|d| d.ci95.is_none()) {
            out.push_str(&wrapped(
                "- no interval: the runs are too short for it, or a summary is older than its fields\n",
                2,
            ));
        }
        out.push_str(&wrapped(
            "About 1 in 20 such intervals does not hold the true difference: a row that stands alone may be one of them.\n",
            0,
        ));
        out
    }

    /// The causes of one kind of request.
    fn causes(&self, op: HostOp) -> String {
        let levels: Vec<&Causes> =
            self.blame.iter().filter(|c| c.op == op.name() && BLAME.contains(&c.above)).collect();
        let Some(last) = levels.last() else { return String::new() };
        let sums: Vec<[f64; 2]> = levels.iter().map(|c| sums(c)).collect();
        if sums.iter().flatten().all(|&ns| ns == 0.0) {
            return String::new();
        }
        // By cause: A and B at each level.
        let of = |cause: &str| -> Vec<[f64; 2]> {
            let at = |c: &Causes| {
                c.causes.iter().find(|m| m.cause == cause).map_or([0.0; 2], |m| [m.a_ns, m.b_ns])
            };
            levels.iter().map(|c| at(c)).collect()
        };
        let mut names: Vec<&str> = last.causes.iter().map(|m| m.cause.as_str()).collect();
        for cause in levels.iter().flat_map(|c| &c.causes) {
            if !names.contains(&cause.cause.as_str()) {
                names.push(&cause.cause);
            }
        }
        let large = |name: &&str| {
            let moved = |([a, b], sum): (&[f64; 2], &[f64; 2])| (b - a).abs() > SMALL * sum[0].max(sum[1]);
            of(name).iter().zip(&sums).any(moved)
        };
        let (large, small): (Vec<&str>, Vec<&str>) = names.into_iter().partition(large);
        let mut grid = Grid::default().group(3);
        let line = |name: String, values: &[[f64; 2]]| {
            let cells = values.iter().flat_map(|&[a, b]| [duration(a), duration(b), signed_duration(b - a)]);
            [name].into_iter().chain(cells).collect::<Vec<String>>()
        };
        let head = levels.iter().flat_map(|c| [format!("A {}", beyond(c.above)), "B".into(), "B - A".into()]);
        grid.row(["cause".to_string()].into_iter().chain(head));
        grid.rule();
        for name in &large {
            grid.row(line(cut(name, 25), &of(name)));
        }
        if !small.is_empty() {
            let mut rest = vec![[0.0; 2]; levels.len()];
            for name in &small {
                for (sum, [a, b]) in rest.iter_mut().zip(of(name)) {
                    *sum = [sum[0] + a, sum[1] + b];
                }
            }
            grid.row(line(format!("({} that hardly moved)", small.len()), &rest));
        }
        grid.rule();
        grid.row(line("sum = mean".to_string(), &sums));
        format!("\n{}, which causes moved: mean time\n{}", capital(plural(op)), grid.render())
    }

    fn keys(&self) -> String {
        let Some(keys) = &self.config else {
            return "\nConfiguration: one of the two summaries has none\n".to_string();
        };
        if keys.is_empty() {
            return "\nConfiguration: no key differs\n".to_string();
        }
        let mut out = format!("\nConfiguration, keys that differ: {}\n", keys.len());
        for Key { key, a, b } in keys {
            out.push_str(&format!("  {key}\n"));
            for (name, value) in [("A", a), ("B", b)] {
                out.push_str(&wrapped(&format!("    {name} {}\n", with_source(value.as_ref())), 6));
            }
        }
        out
    }
}

fn sums(causes: &Causes) -> [f64; 2] {
    causes.causes.iter().fold([0.0; 2], |[a, b], m| [a + m.a_ns, b + m.b_ns])
}

fn signed_duration(ns: f64) -> String {
    match ns {
        ns if ns.abs() < 0.5 => "0 ns".to_string(),
        ns if ns < 0.0 => format!("-{}", duration(-ns)),
        ns => format!("+{}", duration(ns)),
    }
}

/// A value with the layer that has set it and the source that the layer states.
fn with_source(value: Option<&ConfigValue>) -> String {
    let Some(ConfigValue { value, layer, source }) = value else { return "has no such key".to_string() };
    let text = value.as_str().map_or_else(|| value.to_string(), String::from);
    let source = source.as_ref().map_or(String::new(), |source| format!(": {source}"));
    format!("{text} ({layer}{source})")
}
