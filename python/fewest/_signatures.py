"""Signatures of the estimators, written by `.ci/signatures --write`: change ``_takes`` of a class, or ``_parameters.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewest._parameters import Signature, stores_arguments

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from fewest._engine import Progress
    from fewest._rules import Rules

# fmt: off


class AlignmentSelector(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, kernel: str = "rbf",
        categorical_features: Any = None, gamma: str | float = "sigest", C: float | str = 1.0, fit_C: float | None = None,
        n_solutions: int | None = None, within: float | None = None, gap: float = 0.0001, node_limit: int | None = None,
        loss: str = "hinge", fit_intercept: bool = True, intercept_scaling: float | None = None, tol: float = 1e-06,
        proof: str | os.PathLike[str] | None = None, class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None, resume: str | os.PathLike[str] | None = None, resume_every: float = 30.0,
        on_interrupt: str = "raise", callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class BendersSelector(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, C: float | str = 1.0, fit_C: float | None = None,
        feature_penalty: Any = None, multi_class: str = "ovo", max_iter: int = 250, plain: bool = False,
        validation_fraction: float | None = None, patience: int | None = None, random_state: Any = 0, gap: float = 0.0001,
        proof: str | os.PathLike[str] | None = None, loss: str = "hinge", fit_intercept: bool = True,
        intercept_scaling: float | None = None, tol: float = 1e-06, class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None, resume: str | os.PathLike[str] | None = None, resume_every: float = 30.0,
        on_interrupt: str = "raise", callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class EvaluationRFE(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: float | None = None, rules: Rules | None = None, start: Any = None, candidates: int = 3,
        adaptive: float | None = None, accuracy_loss: float | None = 0.0, Cs: Sequence[float] = (0.0625, 0.25, 1.0, 4.0, 16.0, 64.0),
        fit_C: float | None = None, cv: Any = 5, kernel: str = "linear", gamma: str | float = "1/p", degree: int = 3,
        coef0: float = 0.0, criterion: str = "auto", loss: str = "hinge", fit_intercept: bool = True,
        intercept_scaling: float | None = None, tol: float = 1e-06, class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None, resume: str | os.PathLike[str] | None = None, resume_every: float = 30.0,
        on_interrupt: str = "raise", callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class ExactSelector(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, C: float | str = 1.0, fit_C: float | None = None,
        feature_penalty: Any = None, multi_class: str = "ovo", n_solutions: int | None = None, within: float | None = None,
        gap: float = 0.0001, node_limit: int | None = None, proof: str | os.PathLike[str] | None = None, loss: str = "hinge",
        fit_intercept: bool = True, intercept_scaling: float | None = None, tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None, time_limit: float | None = None,
        resume: str | os.PathLike[str] | None = None, resume_every: float = 30.0, on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class FSVSelector(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, lam: float = 0.05, alpha: float = 5.0,
        n_starts: int = 5, max_iter: int = 50, random_state: Any = 0, time_limit: float | None = None, on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class FeatureGeneratingMachine(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, C: float | str = 1.0,
        subset_size: int | None = None, fit_intercept: bool = False, intercept_scaling: float | None = None, multi_class: str = "ovo",
        mkl: str | None = None, improve: str = "auto", plain: bool = False, gap: float = 0.0001, tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None, time_limit: float | None = None, on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class FlipSelector(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: float | None = None, rules: Rules | None = None, flip: str = "bit", C: float = 1.0,
        Cs: Sequence[float] | None = None, fit_C: float | None = None, cv: Any = 5, max_iter: int | None = 1, start: Any = None,
        step: float = 1, step_of: str = "original", kernel: str = "linear", gamma: str | float = "1/p", degree: int = 3,
        coef0: float = 0.0, criterion: str = "auto", loss: str = "hinge", fit_intercept: bool = True,
        intercept_scaling: float | None = None, tol: float = 1e-06, class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None, on_interrupt: str = "raise", callback: Callable[[Progress], object] | None = None,
        verbose: int = 0, n_jobs: int | None = None, max_memory: int | str | None = None,
    ) -> None: ...


class InformationGain(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, bins: int | None = None, C: float | str = 1.0,
        fit_C: float | None = None, loss: str = "hinge", fit_intercept: bool = True, intercept_scaling: float | None = None,
        tol: float = 1e-06, class_weight: dict[Any, float] | str | None = None, time_limit: float | None = None,
        on_interrupt: str = "raise", callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class L1SVMSelector(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, C: float | str = 1.0,
        Cs: Sequence[float] | None = None, loss: str = "hinge", fit_intercept: bool = True, intercept_scaling: float | None = None,
        gap: float = 0.0001, tol: float = 1e-06, class_weight: dict[Any, float] | str | None = None, time_limit: float | None = None,
        on_interrupt: str = "raise", callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class LagrangianSelector(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, C: float | str = 1.0, feature_penalty: Any = None,
        weight_bound: str | float | None = None, epsilon: float = 1e-06, max_iter: int = 1000, restricted_time: float | None = None,
        plain: bool = False, gap: float = 0.0001, tol: float = 1e-07, fit_intercept: bool = True,
        intercept_scaling: float | None = None, class_weight: dict[Any, float] | str | None = None, time_limit: float | None = None,
        on_interrupt: str = "raise", callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class LinearSVC(Signature):
    @stores_arguments
    def __init__(
        self, *, penalty: str = "l2", loss: str = "squared_hinge", dual: str | bool = "auto", C: float = 1.0, multi_class: str = "ovr",
        fit_intercept: bool = True, intercept_scaling: float | None = 1.0, tol: float = 1e-12,
        class_weight: dict[Any, float] | str | None = None, verbose: int = 0, random_state: Any = None, max_iter: int = 100000,
        time_limit: float | None = None, monotonic_cst: Any = None, weight_bounds: Any = None, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class MBPSelector(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, C: float | str = 1.0, feature_penalty: Any = None,
        weight_bound: str | float | None = None, n_solutions: int | None = None, within: float | None = None, plain: bool = False,
        lp: str = "simplex", gap: float = 0.0001, node_limit: int | None = None, proof: str | os.PathLike[str] | None = None,
        fit_intercept: bool = True, intercept_scaling: float | None = None, class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None, resume: str | os.PathLike[str] | None = None, resume_every: float = 30.0,
        on_interrupt: str = "raise", callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class MILOKSelector(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, kernel: str = "rbf",
        categorical_features: Any = None, gamma: str | float = "sigest", C: float | str = 1.0, fit_C: float | None = None,
        plain: bool = False, lp: str = "simplex", gap: float = 0.0001, node_limit: int | None = None, loss: str = "hinge",
        fit_intercept: bool = True, intercept_scaling: float | None = None, tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None, time_limit: float | None = None, on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class MILP1Selector(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, weight_bound: float = 1.0, C: float | str = 1.0,
        fit_C: float | None = None, plain: bool = False, lp: str = "simplex", gap: float = 0.0001, node_limit: int | None = None,
        loss: str = "hinge", fit_intercept: bool = True, intercept_scaling: float | None = None, tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None, time_limit: float | None = None, on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class MILP2Selector(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, C: float | str = 1.0, fit_C: float | None = None,
        plain: bool = False, lp: str = "simplex", gap: float = 0.0001, node_limit: int | None = None, loss: str = "hinge",
        fit_intercept: bool = True, intercept_scaling: float | None = None, tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None, time_limit: float | None = None, on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class NMMKLSelector(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, subset_size: int | None = None,
        C: float | str = 1.0, fit_C: float | None = None, gap: float = 0.0001, loss: str = "squared_hinge", fit_intercept: bool = True,
        intercept_scaling: float | None = None, tol: float = 1e-06, class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None, on_interrupt: str = "raise", callback: Callable[[Progress], object] | None = None,
        verbose: int = 0, n_jobs: int | None = None, max_memory: int | str | None = None,
    ) -> None: ...


class QCQPSelector(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, subset_size: int | None = None,
        C: float | str = 1.0, fit_C: float | None = None, gap: float = 0.0001, loss: str = "hinge", fit_intercept: bool = True,
        intercept_scaling: float | None = None, tol: float = 1e-06, class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None, on_interrupt: str = "raise", callback: Callable[[Progress], object] | None = None,
        verbose: int = 0, n_jobs: int | None = None, max_memory: int | str | None = None,
    ) -> None: ...


class RMILOKSelector(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: int | None = None, rules: Rules | None = None, kernel: str = "rbf",
        categorical_features: Any = None, gamma: str | float = "sigest", big_m: str = "padded", C: float | str = 1.0,
        fit_C: float | None = None, plain: bool = False, lp: str = "simplex", gap: float = 0.0001, node_limit: int | None = None,
        loss: str = "hinge", fit_intercept: bool = True, intercept_scaling: float | None = None, tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None, time_limit: float | None = None, on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class SVC(Signature):
    @stores_arguments
    def __init__(
        self, *, C: float = 1.0, kernel: str | Callable[[Any, Any], Any] = "rbf", degree: int = 3, gamma: str | float = "scale",
        categorical_features: Any = None, coef0: float = 0.0, shrinking: bool = True, probability: bool | str = "deprecated",
        loss: str = "hinge", fit_intercept: bool = True, intercept_scaling: float | None = None, tol: float = 1e-12,
        cache_size: float | None = None, class_weight: dict[Any, float] | str | None = None, verbose: int = False, max_iter: int = -1,
        decision_function_shape: str = "ovr", break_ties: bool = False, random_state: Any = None, time_limit: float | None = None,
        n_jobs: int | None = None, max_memory: int | str | None = None,
    ) -> None: ...


class SVMRFE(Signature):
    @stores_arguments
    def __init__(
        self, *, n_features_to_select: float | None = None, rules: Rules | None = None, step: float = 1, step_of: str = "original",
        halve_above: int | None = None, resamples: Any = None, resampling: str = "folds", random_state: Any = 0, start: Any = None,
        C: float | str = 1.0, Cs: Sequence[float] | None = None, retune: int = 1, fit_C: float | None = None, kernel: str = "linear",
        gamma: str | float = "1/p", degree: int = 3, coef0: float = 0.0, criterion: str = "auto", loss: str = "hinge",
        fit_intercept: bool = True, intercept_scaling: float | None = None, tol: float = 1e-09, cv: Any = None,
        impute: str | None = None, scale: bool = False, scoring: Any = None, min_features_to_select: int = 1,
        size_rule: str | float = "best", class_weight: dict[Any, float] | str | None = None, time_limit: float | None = None,
        resume: str | os.PathLike[str] | None = None, resume_every: float = 30.0, on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...


class Study(Signature):
    @stores_arguments
    def __init__(
        self, *, sizes: int | Sequence[int] | None = None, rules: Rules | None = None, methods: str | Sequence[str] = "auto",
        scoring: str = "combined", prefer: str = "best", points: bool = False, pos_label: Any = None, sensitivity: float | None = None,
        cv: int = 5, n_repeats: int = 2, inner_cv: int = 5, n_inner_repeats: int = 2, n_Cs: int = 8, impute: str | None = None,
        scale: str | None = None, n_solutions: int = 5, gap: float = 0.0001, node_limit: int = 20000,
        selection_time_limit: float | None = None, loss: str = "hinge", fit_intercept: bool = True,
        intercept_scaling: float | None = None, tol: float = 1e-06, class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = 600.0, random_state: Any = 0, on_interrupt: str = "raise",
        callback: Callable[[Progress], object] | None = None, verbose: int = 0, n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None: ...
