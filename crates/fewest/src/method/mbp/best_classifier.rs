//! The best classifier on a subset: the upper values of `mbp` and `lagrangian`.

use fewest_svm::limits::WIND_UP;

use super::{MbpReport, Model, Record, TIGHT};
use crate::l1_oracle::{L1Oracle, L1Point};
use crate::method::l1_svm::nearest_allowed;
use crate::search::{Found, Pool};
use crate::{Bias, Error, Memory, Run, Selection, Status, Subset};

/// The best classifier that a run has found, and a program that finds the best one on any subset.
pub(crate) struct BestClassifier<'a> {
    /// Prices 1, and u = 0 outside the current subset.
    inner: L1Oracle<'a>,
    best: Option<(Subset, L1Point)>,
    /// The best subsets, where several are wanted.
    pub(super) pool: Option<Pool<'a>>,
    /// No subset that the search has still to examine is better than this.
    pub(super) open: f64,
    /// Linear programs solved elsewhere.
    pub(crate) programs: u64,
}

impl<'a> BestClassifier<'a> {
    pub(crate) fn new(model: &Model<'a>, memory: &Memory) -> Result<Self, Error> {
        let nothing = vec![0.0; model.bound.len()];
        let inner = L1Oracle::within(model.problem, model.cost.clone(), model.bias, nothing, memory)?;
        let inner = inner.bounded(model.rules.weight_bounds());
        Ok(Self { inner, best: None, pool: None, open: f64::NEG_INFINITY, programs: 0 })
    }

    /// Linear programs solved here.
    pub(super) fn solves(&self) -> u64 {
        self.inner.solves
    }

    /// The best w and b on a subset.
    pub(super) fn on_subset(&mut self, model: &Model<'_>, subset: &Subset, run: &Run<'_>) -> Result<L1Point, Error> {
        let mut bound = vec![0.0; model.bound.len()];
        subset.iter().for_each(|j| bound[j] = model.bound[j]);
        self.inner.set_bounds(&bound)?;
        self.inner.join(&subset.iter().collect::<Vec<_>>())?;
        // Once the time is over, what is left to be trained has WIND_UP, all of it together.
        self.inner.solve(TIGHT, &run.counted_clock().with_grace_unless_cancelled(WIND_UP))
    }

    /// What the objective of another subset must be below.
    pub(super) fn cutoff(&self, run: &Run<'_>) -> f64 {
        match &self.pool {
            Some(pool) => pool.cutoff(),
            None => run.incumbent().map_or(f64::INFINITY, |(_, best)| run.gaps().cutoff(best)),
        }
    }

    /// Trains on the incumbent of a run that resumes from a state.
    pub(super) fn recall(&mut self, model: &Model<'_>, run: &mut Run<'_>) -> Result<(), Error> {
        if let Some(subset) = run.incumbent().map(|(subset, _)| subset.clone()) {
            let point = self.on_subset(model, &subset, run)?;
            self.take(&subset, point.primal, point.dual, model.price(&subset), false, run);
            self.best = Some((subset, point));
        }
        Ok(())
    }

    /// Keeps a subset where several are wanted: the best value and a bound without its price, and
    /// whether no open node holds it.
    pub(super) fn take(
        &mut self,
        subset: &Subset,
        primal: f64,
        dual: f64,
        price: f64,
        closed: bool,
        run: &mut Run<'_>,
    ) {
        if let Some(pool) = &mut self.pool {
            let (objective, proven) = (primal + price, dual + price);
            pool.take(Found { subset: subset.clone(), objective, proven, closed, point: None }, run);
        }
    }

    /// Offers the subset that weights point to: their support, or the allowed subset of largest
    /// total |w_j|, less the features to which the best classifier on it gives no weight. Returns
    /// it and its objective.
    pub(crate) fn offer(
        &mut self,
        model: &Model<'_>,
        weights: &[(usize, f64)],
        run: &mut Run<'_>,
    ) -> Result<(Subset, f64), Error> {
        let rules = model.rules;
        let mut subset = Subset::from_indices(rules.p(), weights.iter().map(|e| e.0));
        if !rules.allows(&subset) {
            subset = nearest_allowed(run, weights);
        }
        let point = self.on_subset(model, &subset, run)?;
        let smaller = Subset::from_indices(rules.p(), point.weights.iter().map(|e| e.0));
        if rules.allows(&smaller) {
            subset = smaller;
        }
        let price = model.price(&subset);
        let objective = point.primal + price;
        let better = run.offer(&subset, objective);
        self.take(&subset, point.primal, point.dual, price, false, run);
        if better {
            self.best = Some((subset.clone(), point));
        }
        Ok((subset, objective))
    }

    /// The best point as one of the program of `features`, if it lies there.
    pub(crate) fn start(&self, model: &Model<'_>, features: &[usize]) -> Option<Vec<f64>> {
        let (subset, point) = self.best.as_ref()?;
        if !subset.iter().all(|j| features.binary_search(&j).is_ok()) {
            return None;
        }
        let q = features.len();
        let mut start: Vec<f64> = features.iter().map(|&j| f64::from(subset.contains(j))).collect();
        start.resize(3 * q, 0.0);
        let mut scores = vec![point.bias; model.cost.len()];
        for &(j, w) in &point.weights {
            let k = features.binary_search(&j).expect("tested above");
            start[q + 2 * k + usize::from(w < 0.0)] = model.units.weight(j, w.abs());
            model.problem.design().add_column(j, w, &mut scores);
        }
        match model.bias {
            Bias::Penalised(_) => start.extend([point.bias.max(0.0), (-point.bias).max(0.0)]),
            Bias::Free | Bias::None => start.push(point.bias),
        }
        start.extend(scores.iter().zip(model.problem.labels()).map(|(f, y)| (1.0 - y * f).max(0.0)));
        Some(start)
    }

    /// Ends the run: the best classifier on the incumbent, and how it ended.
    pub(crate) fn report(
        mut self,
        model: &Model<'_>,
        mut run: Run<'_>,
        status: Status,
        relaxation: Option<f64>,
        removed: usize,
        proof: Option<Record<'_>>,
    ) -> Result<MbpReport, Error> {
        let mut solution = None;
        if let Some(subset) = run.incumbent().map(|(subset, _)| subset.clone()) {
            // What HiGHS found is trained again, so that its objective is that of the best w and b.
            let weights: Vec<(usize, f64)> = subset.iter().map(|j| (j, 1.0)).collect();
            self.offer(model, &weights, &mut run)?;
            let (subset, _) = run.incumbent().expect("as before");
            let point = match self.best.take().filter(|(best, _)| best == subset) {
                Some((_, point)) => point,
                None => self.on_subset(model, &subset.clone(), &run)?,
            };
            let features: Vec<usize> = subset.iter().collect();
            solution = Some(self.inner.solution(&point, &features, TIGHT));
        }
        // A limit may have been reached just when the gap was closed.
        let mut status = if run.closed() && self.pool.is_none() { Status::Optimal } else { status };
        let open = self.open.max(run.bound().unwrap_or(f64::NEG_INFINITY));
        let near = self.pool.as_ref().and_then(|pool| pool.near(open));
        let solutions = self.pool.as_ref().map_or(Vec::new(), Pool::solutions);
        run.counts.oracle_calls += self.programs;
        if let Some(proof) = proof {
            let best = run.incumbent().map(|(subset, objective)| (subset.clone(), objective));
            let found = best.as_ref().zip(solution.as_ref()).map(|((subset, value), at)| (subset, *value, at));
            status = proof.end(found, run.earned(status), &mut run);
        }
        Ok(MbpReport {
            selection: Selection { outcome: run.finish(status), ranking: Vec::new(), solutions },
            near,
            solution,
            weight_bounds: model.bound.clone(),
            relaxation,
            removed,
            programs: self.programs + self.inner.solves,
        })
    }
}
