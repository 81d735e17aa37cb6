//! What no allowed subset gains more than: size and budget as prices, the other rules in part.
//!
//! Bound    min over price, toll >= 0 of  price money + toll room
//!              + max over z of sum_u r_u z_u,   r_u = gain_u - price cost_u - toll size_u,
//!          z over the free units. Of the rules z obeys at-most and at-least groups that share no
//!          unit, and of each unit one of the units that it needs; the others are left out, which
//!          makes the maximum larger at most. money and room are what the units that are in leave.
//! Source   Lagrangian relaxation (Geoffrion 1974) and fixing by reduced gains (Balas and Zemel,
//!          Oper. Res. 28, 1980).
//! Given    rules, state (propagated), the gain of each unit.
//! Returns  price and toll; the bound; for each free unit whether z has it, and by how much the
//!          bound falls when that is turned round: where it then is no more than the best subset
//!          known, the unit is decided.
//! Steps    the centre of what is left of the rectangle of prices, halved by the slope there.
//! Cost     per step one walk over the free units.

use super::{Choice, Group, Rules};

/// Steps at most: the polygon then is a millionth of its width, or less.
const STEPS: usize = 40;
/// Steps after which units are left out of the walk that none of the prices left has in.
const SIFT: usize = 4;

/// Price per cost and toll per feature.
pub(super) type Prices = (f64, f64);

/// The free units of a state, in the parts that the relaxation takes one by one.
pub(super) struct Relaxed<'r> {
    rules: &'r Rules,
    gains: &'r [f64],
    /// Units that nothing binds but size and budget.
    single: Vec<usize>,
    groups: Vec<Few>,
    /// A unit and the place of the one it needs, which comes before it.
    trees: Vec<(usize, Option<usize>)>,
    /// What size and budget leave; infinite without.
    room: f64,
    money: f64,
    /// Gain of the units that are in.
    base: f64,
}

/// From `least` to `most` of these units.
struct Few {
    units: Vec<usize>,
    least: usize,
    most: usize,
}

impl<'r> Relaxed<'r> {
    pub(super) fn new(rules: &'r Rules, state: &[Choice], gains: &'r [f64]) -> Self {
        let (units, list) = (&rules.units, &rules.list);
        let (size, cost) = units.taken(state);
        let room = list.max_features.map_or(f64::INFINITY, |most| most as f64 - size as f64);
        let money = (rules.most_cost() - cost).max(0.0);
        let base = (0..units.len()).filter(|&u| state[u] == Choice::In).map(|u| gains[u]).sum();

        let free = |u: usize| state[u] == Choice::Free;
        let needed = |u: usize| units.needs(u).iter().copied().find(|&v| free(v));
        let mut trees: Vec<(usize, Option<usize>)> = Vec::new();
        // Units that are in a part.
        let mut placed = vec![false; units.len()];
        let mut place = vec![usize::MAX; units.len()];
        for u in (0..units.len()).filter(|&u| free(u)) {
            // From the first unit that is placed, or needs none, down to u.
            let mut path = Vec::new();
            let mut next = Some(u).filter(|&u| needed(u).is_some());
            while let Some(v) = next.filter(|&v| !placed[v]) {
                path.push(v);
                next = needed(v);
            }
            for v in path.into_iter().rev() {
                placed[v] = true;
                place[v] = trees.len();
                trees.push((v, needed(v).map(|w| place[w])));
            }
        }

        let mut groups: Vec<Few> = Vec::new();
        let mut group_of = vec![usize::MAX; if rules.at_least.is_empty() { 0 } else { units.len() }];
        for group in &rules.at_most {
            let left = group.short(state);
            let (members, weight, _) = eligible(group, state, &placed);
            if weight > 0 && left / weight < members.len() {
                for &u in &members {
                    placed[u] = true;
                    if let Some(at) = group_of.get_mut(u) {
                        *at = groups.len();
                    }
                }
                groups.push(Few { units: members, least: 0, most: left / weight });
            }
        }
        for group in &rules.at_least {
            let lacking = group.short(state);
            let members = || group.members.iter().filter(|m| free(m.0));
            let known = members().next().and_then(|m| groups.get(group_of[m.0]).map(|few| (group_of[m.0], few)));
            if let Some((at, few)) = known.filter(|k| members().all(|m| group_of[m.0] == k.0 && m.1 == 1)) {
                let others = few.units.len() - members().count();
                if others == 0 {
                    groups[at].least = groups[at].least.max(lacking.min(groups[at].most));
                }
                continue;
            }
            let (members, weight, others) = eligible(group, state, &placed);
            let lacking = lacking.saturating_sub(others);
            if weight > 0 && lacking > 0 {
                for &u in &members {
                    placed[u] = true;
                }
                let most = members.len();
                groups.push(Few { units: members, least: lacking.div_ceil(weight).min(most), most });
            }
        }
        let single = (0..units.len()).filter(|&u| free(u) && !placed[u]).collect();
        Self { rules, gains, single, groups, trees, room, money, base }
    }

    /// Free units that nothing binds but size and budget, ascending.
    pub(super) fn single(&self) -> &[usize] {
        &self.single
    }

    /// r_u
    fn reduced(&self, (price, toll): Prices, u: usize) -> f64 {
        let units = &self.rules.units;
        self.gains[u] - price * units.cost(u) - toll * units.size(u) as f64
    }

    /// The largest sum of r_u; tells of each free unit whether it is in, and what the other would
    /// lose.
    fn visit(&self, at: Prices, mut tell: impl FnMut(usize, bool, f64)) -> f64 {
        let mut value = 0.0;
        for &u in &self.single {
            let r = self.reduced(at, u);
            value += r.max(0.0);
            tell(u, r > 0.0, r.abs());
        }
        let mut sorted: Vec<(f64, usize)> = Vec::new();
        let mut rest = sorted.clone();
        for few in &self.groups {
            sorted.clear();
            rest.clear();
            for &u in &few.units {
                let r = self.reduced(at, u);
                if r > 0.0 { sorted.push((r, u)) } else { rest.push((r, u)) }
            }
            let useful = sorted.len();
            if useful < few.least || (useful == few.least && useful > 0) {
                sorted.append(&mut rest);
            }
            sorted.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let count = useful.clamp(few.least, few.most);
            // What one that comes in puts out, and what comes in for one that goes.
            let floor = match count.checked_sub(1) {
                Some(last) if count == few.most || count > useful => sorted[last].0,
                _ => 0.0,
            };
            let next = sorted.get(count).map(|m| m.0);
            let instead = if count > few.least { next.unwrap_or(0.0).max(0.0) } else { next.unwrap_or(-f64::INFINITY) };
            for (at, &(r, u)) in sorted.iter().enumerate() {
                if at < count {
                    value += r;
                    tell(u, true, r - instead);
                } else {
                    tell(u, false, floor - r);
                }
            }
            for &(r, u) in &rest {
                tell(u, false, floor - r);
            }
        }
        let sum = self.tree_sums(at);
        let mut found: Vec<(bool, f64)> = Vec::with_capacity(sum.len());
        for (&(u, above), &sum) in self.trees.iter().zip(&sum) {
            let (open, loss) = above.map_or((true, f64::INFINITY), |above| found[above]);
            if above.is_none() {
                value += sum.max(0.0);
            }
            let chosen = open && sum > 0.0;
            let loss = if chosen { sum.min(loss) } else { (-sum).max(0.0) + if open { 0.0 } else { loss } };
            found.push((chosen, loss));
            tell(u, chosen, loss);
        }
        value
    }

    /// What no completion exceeds at these prices, with the largest sum of r_u.
    fn total(&self, (price, toll): Prices, value: f64) -> f64 {
        let paid = |price: f64, left: f64| if price > 0.0 { price * left } else { 0.0 };
        self.base + paid(price, self.money) + paid(toll, self.room) + value
    }

    /// The bound at these prices, and its slope.
    fn evaluate(&self, at: Prices) -> (f64, Prices) {
        let (mut cost, mut size) = (0.0, 0.0);
        let units = &self.rules.units;
        let value = self.visit(at, |u, chosen, _| {
            if chosen {
                cost += units.cost(u);
                size += units.size(u) as f64;
            }
        });
        // With what rounding may have taken from the sums.
        let (paid, units) = (self.total(at, 0.0), units.len() as f64);
        let bound = paid + value + f64::EPSILON * units * (value.abs() + paid.abs() + self.base.abs());
        (bound, (self.money - cost, self.room - size))
    }

    /// Without the units that are out at these prices and all larger ones.
    fn sought(&self, low: Prices) -> Self {
        let gains = |&u: &usize| self.reduced(low, u) > 0.0;
        let single = self.single.iter().copied().filter(gains).collect();
        let few = |few: &Few| Few {
            units: few.units.iter().copied().filter(|u| few.least > 0 || gains(u)).collect(),
            ..*few
        };
        let groups = self.groups.iter().map(few).filter(|few| !few.units.is_empty()).collect();
        let sums = self.tree_sums(low);
        let mut place: Vec<Option<usize>> = Vec::with_capacity(sums.len());
        let mut trees = Vec::new();
        for (&(u, above), &sum) in self.trees.iter().zip(&sums) {
            let stays = sum > 0.0 && above.is_none_or(|above| place[above].is_some());
            place.push(stays.then_some(trees.len()));
            if stays {
                trees.push((u, above.and_then(|above| place[above])));
            }
        }
        Self { single, groups, trees, ..*self }
    }

    /// Sums of each unit in a tree: r_u and what the units below it that gain add.
    fn tree_sums(&self, at: Prices) -> Vec<f64> {
        let mut sum: Vec<f64> = self.trees.iter().map(|&(u, _)| self.reduced(at, u)).collect();
        for (at, &(_, above)) in self.trees.iter().enumerate().rev() {
            if let Some(above) = above.filter(|_| sum[at] > 0.0) {
                sum[above] += sum[at];
            }
        }
        sum
    }

    /// Prices of a small bound, and the bound; the first of at most `enough`.
    pub(super) fn prices(&self, enough: f64) -> (Prices, f64) {
        let (mut high, units) = ((0.0f64, 0.0f64), &self.rules.units);
        let free = self.single.iter().chain(self.groups.iter().flat_map(|few| &few.units));
        for u in free.copied().chain(self.trees.iter().map(|t| t.0)).filter(|&u| self.gains[u] > 0.0) {
            if self.money.is_finite() && units.cost(u) > 0.0 {
                high.0 = high.0.max((self.gains[u] / units.cost(u)).min(f64::MAX));
            }
            if self.room.is_finite() {
                high.1 = high.1.max(self.gains[u] / units.size(u) as f64);
            }
        }
        let mut polygon = vec![(0.0, 0.0), (high.0, 0.0), high, (0.0, high.1)];
        let (mut at, mut best) = ((0.0, 0.0), ((0.0, 0.0), f64::INFINITY));
        // What may still be in at prices of the polygon.
        let mut sought = None;
        for step in 0..STEPS {
            if step % SIFT == SIFT - 1 {
                let low = polygon.iter().fold(high, |low, v| (low.0.min(v.0), low.1.min(v.1)));
                sought = Some(sought.as_ref().unwrap_or(self).sought(low));
            }
            let (bound, slope) = sought.as_ref().unwrap_or(self).evaluate(at);
            if bound < best.1 {
                best = (at, bound);
            }
            let falls = |slope: f64, high: f64, at: f64| high > 0.0 && (slope < 0.0 || (slope > 0.0 && at > 0.0));
            if best.1 <= enough || !(falls(slope.0, high.0, at.0) || falls(slope.1, high.1, at.1)) {
                break;
            }
            let of = |slope: f64, high: f64| if high > 0.0 { slope } else { 0.0 };
            polygon = half(&polygon, at, (of(slope.0, high.0), of(slope.1, high.1)));
            match centre(&polygon, high) {
                Some(next) if next != at => at = next,
                _ => break,
            }
        }
        best
    }

    /// The bound at these prices.
    pub(super) fn bound(&self, at: Prices) -> f64 {
        self.evaluate(at).0
    }

    /// Free units that are in at these prices, by what the bound would lose without them, falling,
    /// then the others, by what it would lose with them: the first `most`, and those of at-least
    /// groups. Ties to the smaller.
    pub(super) fn in_order(&self, at: Prices, most: usize) -> Vec<usize> {
        let mut order: Vec<(f64, usize)> = Vec::new();
        self.visit(at, |u, chosen, loss| order.push((if chosen { loss } else { -loss }, u)));
        let larger = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if order.len() > most {
            order.select_nth_unstable_by(most, larger);
            let mut asked: Vec<usize> = self.rules.at_least.iter().flat_map(|g| &g.members).map(|m| m.0).collect();
            asked.sort_unstable();
            let rest = order.split_off(most);
            order.extend(rest.into_iter().filter(|o| asked.binary_search(&o.1).is_ok()));
        }
        order.sort_unstable_by(larger);
        order.into_iter().map(|o| o.1).collect()
    }

    /// Decides in `state` every unit that no subset which gains more than `enough` has otherwise.
    pub(super) fn decide(&self, at: Prices, enough: f64, state: &mut [Choice]) {
        let open = self.evaluate(at).0 - enough;
        self.visit(at, |u, chosen, loss| {
            if loss > open {
                state[u] = if chosen { Choice::In } else { Choice::Out };
            }
        });
    }
}

/// The units of a group that are free, in no other part and weigh the same, their weight, and how
/// many features the other free ones have there.
fn eligible(group: &Group, state: &[Choice], placed: &[bool]) -> (Vec<usize>, usize, usize) {
    let free = || group.members.iter().filter(|m| state[m.0] == Choice::Free);
    let Some(weight) = free().find(|m| !placed[m.0]).map(|m| m.1) else { return (Vec::new(), 0, 0) };
    let fits = |m: &&(usize, usize)| !placed[m.0] && m.1 == weight;
    let others = free().filter(|m| !fits(m)).map(|m| m.1).sum();
    (free().filter(fits).map(|m| m.0).collect(), weight, others)
}

/// The part of a convex polygon where the slope at `from` does not say that the bound rises.
fn half(polygon: &[Prices], from: Prices, slope: Prices) -> Vec<Prices> {
    let rise = |v: &Prices| slope.0 * (v.0 - from.0) + slope.1 * (v.1 - from.1);
    let mut left = Vec::with_capacity(polygon.len() + 1);
    for (k, a) in polygon.iter().enumerate() {
        let b = &polygon[(k + 1) % polygon.len()];
        let (of_a, of_b) = (rise(a), rise(b));
        if of_a <= 0.0 {
            left.push(*a);
        }
        if (of_a < 0.0 && of_b > 0.0) || (of_a > 0.0 && of_b < 0.0) {
            let share = of_a / (of_a - of_b);
            left.push((a.0 + share * (b.0 - a.0), a.1 + share * (b.1 - a.1)));
        }
    }
    left
}

/// The centre of gravity of a convex polygon inside (0, 0) to `high`; of one without area that of
/// its corners.
fn centre(polygon: &[Prices], high: Prices) -> Option<Prices> {
    let first = polygon.first()?;
    let (mut area, mut sum) = (0.0, (0.0, 0.0));
    for pair in polygon.windows(2) {
        let (a, b) = ((pair[0].0 - first.0, pair[0].1 - first.1), (pair[1].0 - first.0, pair[1].1 - first.1));
        let twice = a.0 * b.1 - a.1 * b.0;
        area += twice;
        sum = (sum.0 + twice * (a.0 + b.0), sum.1 + twice * (a.1 + b.1));
    }
    if area.abs() > 1e-14 * high.0 * high.1 {
        return Some((first.0 + sum.0 / (3.0 * area), first.1 + sum.1 / (3.0 * area)));
    }
    let corners = |of: fn(&Prices) -> f64| {
        let ends =
            polygon.iter().map(of).fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
        f64::midpoint(ends.0, ends.1)
    };
    // Of a segment the middle.
    Some((corners(|v| v.0), corners(|v| v.1)))
}
