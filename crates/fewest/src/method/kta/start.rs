//! Steps 1 and 2: the first subsets, and the root.

use std::collections::HashSet;

use super::KtaSettings;
use super::model::{Model, NO_UNIT};
use super::node::OpenNode;
use super::products::{Query, sums};
use super::search::{Search, Tree};
use crate::{Run, Subset};

impl Tree<'_> {
    /// Steps 1 and 2, and the root.
    pub(super) fn plant(&mut self, search: &mut Search<'_>, settings: &KtaSettings, run: &mut Run<'_>) {
        let rules = run.rules();
        let all: Vec<u32> = (0..search.units.len() as u32).collect();
        let bound = search.pairs.diagonal + search.pairs.positive;
        run.raise_bound(bound);
        let inner = |subset: &Subset| -> Vec<u32> {
            all.iter().copied().filter(|&u| subset.contains(rules.unit(search.units[u as usize])[0])).collect()
        };
        let mut starts: Vec<Vec<u32>> = settings.start.iter().filter(|s| rules.allows(s)).map(inner).collect();
        starts.extend(rules.subset_within(&Subset::full(rules.p())).as_ref().map(inner));
        for inside in &starts {
            self.offer(search.value(inside), search.subset(inside), run);
        }
        let best = self.climb(search, starts, run);
        if !best.is_empty() && run.stop().is_none() {
            self.favoured = best;
            search.favour(&self.favoured);
        }
        if let Some(query) = search.follow(Vec::new(), all) {
            self.push(OpenNode { bound, query, number: 0 });
        }
        self.report(run);
    }

    /// Local search from each start and from the best single gains: one unit in, out, or exchanged,
    /// as long as that helps. Returns the best subset.
    fn climb(&mut self, search: &Search<'_>, mut starts: Vec<Vec<u32>>, run: &mut Run<'_>) -> Vec<u32> {
        let units = search.units.len() as u32;
        let mut best: (f64, Vec<u32>) = (f64::NEG_INFINITY, Vec::new());
        let mut seen: HashSet<Vec<u32>> = HashSet::new();
        let neighbours = |around: &[Vec<u32>]| -> Option<Vec<(f64, Vec<u32>)>> {
            let query = |inside: &Vec<u32>| {
                let free = (0..units).filter(|u| !inside.contains(u)).collect();
                Query::new(inside.clone(), free, 1, search.pairs.count())
            };
            let queries: Vec<Query> = around.iter().map(query).collect();
            let mut out = Vec::new();
            for (query, sums) in queries.iter().zip(sums(&search.pairs, &queries, &search.clock)?) {
                let (values, _) = Model::new(sums, 1, search.pairs.diagonal).exact(f64::NEG_INFINITY);
                for (value, [a, _]) in values {
                    let mut inside = query.inside.clone();
                    inside.extend((a != NO_UNIT).then(|| query.free[a]));
                    inside.sort_unstable();
                    out.push((value, inside));
                }
            }
            out.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
            out.dedup_by(|a, b| a.1 == b.1);
            Some(out)
        };
        if units > 0 && starts.len() < 2 {
            // The allowed subset with the largest sum of single values.
            let Some(singles) = neighbours(&[Vec::new()]) else { return best.1 };
            let mut gains = vec![0.0; search.rules.p()];
            for (value, inside) in singles.iter().filter(|s| s.1.len() == 1) {
                let unit = search.rules.unit(search.units[inside[0] as usize]);
                for &j in unit {
                    gains[j] = value / unit.len() as f64;
                }
            }
            let first = search.rules.best_subset_until(&gains, 1e-12, &search.clock).subset;
            let inside = |s: Subset| {
                (0..units).filter(|&u| s.contains(search.rules.unit(search.units[u as usize])[0])).collect()
            };
            starts.push(inside(first));
        }
        for start in starts.into_iter().rev() {
            let mut at = (search.value(&start), start);
            self.offer(at.0, search.subset(&at.1), run);
            while seen.insert(at.1.clone()) && run.stop().is_none() && units > 0 {
                let mut around = vec![at.1.clone()];
                around.extend((0..at.1.len()).map(|k| {
                    let mut without = at.1.clone();
                    without.remove(k);
                    without
                }));
                let Some(near) = neighbours(&around) else { break };
                let (mut found, _) = search.judge(near, 0.0, self.pool.needed());
                found.sort_by(|a, b| b.0.total_cmp(&a.0));
                let top = found.first().cloned();
                for (value, subset) in found {
                    self.offer(value, subset, run);
                }
                let Some((value, subset)) = top.filter(|t| t.0 > at.0) else { break };
                at = (
                    value,
                    (0..units).filter(|&u| subset.contains(search.rules.unit(search.units[u as usize])[0])).collect(),
                );
            }
            if at.0 > best.0 {
                best = at;
            }
        }
        best.1
    }
}
