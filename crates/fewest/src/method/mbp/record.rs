//! The proof of a run, where one is wanted: the points of its linear programs, what step 4 cuts
//! off, and the tree.

use super::{MbpSettings, Model, rules_without_rows};
use crate::dual::BoxDual;
use crate::l1_oracle::L1Point;
use crate::proof::{Balance, Claim, Gain, Grid, HELD_BACK, Listed, Notes, Place, Point, ProofWriter, WriterState};
use crate::search::PrimalPoint;
use crate::{Bias, DualSolution, Error, Loss, Problem, Run, Status, Subset, SvmSettings};

/// Share of a bound that the grid of its point may lose.
const LOSS: f64 = 1e-9;
/// A score as near to a price as this, as a share, is at it.
const KINK: f64 = 1e-3;

/// Writes the proof of a run.
pub(crate) struct Record<'a> {
    writer: ProofWriter,
    problem: &'a Problem<'a>,
    dual: BoxDual,
    /// The objective without features.
    baseline: f64,
    penalty: Vec<f64>,
    bound: Vec<f64>,
    /// The root, until the tree begins.
    root: Option<(Place, f64)>,
}

impl<'a> Record<'a> {
    /// Whether the run can write a proof, where its observer wants one.
    ///
    /// # Errors
    /// The reason why it cannot.
    pub(super) fn check(settings: &MbpSettings, run: &mut Run<'_>) -> Result<(), Error> {
        if run.proof().is_none() {
            return Ok(());
        }
        if settings.plain {
            return Err(Error::setting("plain", "set", "left out where a proof is written: HiGHS gives none"));
        }
        if settings.several().is_some() {
            let must = "left out where a proof is written: that of mbp is one of the best subset alone; exact and kta write one of all";
            let name = if settings.within.is_some() { "within" } else { "solutions" };
            return Err(Error::setting(name, "set", must));
        }
        if !rules_without_rows(run.rules()) {
            return Err(Error::Rules(
                "mbp can write a proof only with rules that require or forbid features, as it leaves a size, a budget, groups and implications to HiGHS: leave these rules out, or the proof, or select with exact".into(),
            ));
        }
        Ok(())
    }

    /// Begins the proof, where the run's observer wants one.
    pub(super) fn begin(model: &Model<'a>, settings: &MbpSettings, run: &mut Run<'_>) -> Option<Self> {
        let (cost, bias, loss) = (settings.cost, settings.bias, Loss::Hinge);
        let claim = Claim { gain: Gain::L1, loss, bias, cost, penalty: &model.penalty, weight_bounds: &model.bound };
        let writer = ProofWriter::begin(std::slice::from_ref(model.problem), &claim, run)?;
        Some(Self::new(writer, model, settings, run))
    }

    /// Goes on with the proof of the run that kept this state, where the observer wants one.
    ///
    /// # Errors
    /// A state of a run without a proof, or of another problem.
    pub(super) fn resume(
        state: Option<WriterState>,
        model: &Model<'a>,
        settings: &MbpSettings,
        run: &mut Run<'_>,
    ) -> Result<Option<Self>, Error> {
        Ok(ProofWriter::resume(state, run)?.map(|writer| Self::new(writer, model, settings, run)))
    }

    fn new(writer: ProofWriter, model: &Model<'a>, settings: &MbpSettings, run: &mut Run<'_>) -> Self {
        run.hold_back(HELD_BACK);
        let (problem, cost, bias, loss) = (model.problem, settings.cost, settings.bias, Loss::Hinge);
        let svm = SvmSettings { cost, loss, bias, ..SvmSettings::default() };
        let dual = BoxDual::new(problem.labels(), problem.weights(), &svm);
        let (baseline, penalty, bound) = (model.without_features(), model.penalty.clone(), model.bound.clone());
        Self { writer, problem, dual, baseline, penalty, bound, root: None }
    }

    /// What a later run resumes from.
    pub(super) fn state(&self) -> WriterState {
        self.writer.state()
    }

    /// The point of a linear program for the file.
    pub(super) fn point(&self, point: &L1Point) -> Point {
        let balance = match self.dual.bias {
            Bias::Free => Balance::Zero,
            Bias::Penalised(s) => Balance::Within(1.0 / s),
            Bias::None => Balance::Any,
        };
        let kink = |j: usize| self.bound[j] * self.problem.design().squared_norm(j).sqrt();
        let at_kink = (0..self.bound.len()).filter(|&j| self.bound[j] > 0.0 && point.scores[j].abs() >= 1.0 - KINK);
        let gained = (self.baseline - point.dual).abs();
        let little = LOSS * point.dual.max(0.0).min(gained.max(1e-4 * point.dual));
        let grid = Grid { slopes: 0.0, squares: 0.0, kinks: at_kink.map(kink).sum(), loss: little, little };
        let (labels, cost) = (&self.dual.y, |i: usize| self.dual.cost[i]);
        let all = 0..labels.len();
        Point::new(&point.alpha, labels, std::slice::from_ref(&all), cost, balance, grid, &[])
    }

    /// What lies above the smaller bounds is no better than `best`.
    pub(super) fn tighten(&mut self, point: &L1Point, before: &[f64], now: &[f64], best: f64, run: &mut Run<'_>) {
        let point = self.point(point);
        let smaller = (0..now.len()).filter(|&j| now[j] < before[j]).map(|j| (j, now[j])).collect::<Vec<_>>();
        let mut notes = Notes::default();
        notes.tighten(0, &point, &smaller, best);
        self.writer.write(0, notes, run);
    }

    /// The root is open at this point.
    pub(super) fn open_root(&mut self, point: &L1Point) {
        self.root = Some((Place { node: 0, point: self.point(point) }, point.dual));
    }

    /// Closes the root where no tree began there.
    pub(super) fn close_root(&mut self, run: &mut Run<'_>) {
        if let Some((place, bound)) = self.root.take() {
            self.close(&place, bound, run);
        }
    }

    /// The tree begins at the root.
    pub(super) fn begin_tree(&mut self) {
        self.root = None;
    }

    /// Splits a node: its child with the feature in, and the one with it out.
    pub(super) fn split(&mut self, node: u64, feature: usize, run: &mut Run<'_>) -> [u64; 2] {
        let mut notes = Notes::default();
        let children = notes.split(0, feature);
        let numbers = self.writer.write(node, notes, run);
        children.map(|child| numbers.of(child))
    }

    /// Closes a node by its point.
    pub(super) fn close(&mut self, place: &Place, bound: f64, run: &mut Run<'_>) {
        self.writer.close(place, bound, None, run);
    }

    /// Ends the proof with the classifier found; returns the status that it proves.
    pub(super) fn end(self, found: Option<(&Subset, f64, &DualSolution)>, status: Status, run: &mut Run<'_>) -> Status {
        let listed = found.map(|(subset, objective, solution)| {
            let price = subset.iter().map(|j| self.penalty[j]).sum();
            let point = PrimalPoint { weights: solution.weights.clone(), bias: solution.bias };
            let problem = std::iter::once((self.problem, &self.dual));
            Listed::new(problem, Gain::L1, subset, objective, price, vec![point])
        });
        self.writer.end(listed.into_iter().collect(), None, status, run)
    }
}
