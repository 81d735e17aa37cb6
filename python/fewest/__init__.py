"""Feature selection for support vector machines, fast, and with proof of how good the answer is."""

from fewest._core import __version__
from fewest._engine import Progress
from fewest._rules import Rules
from fewest._selectors import (
    SVMRFE,
    AlignmentSelector,
    BendersSelector,
    EvaluationRFE,
    ExactSelector,
    FeatureGeneratingMachine,
    FlipSelector,
    FSVSelector,
    InformationGain,
    L1SVMSelector,
    LagrangianSelector,
    MBPSelector,
)
from fewest._svm import SVC, LinearSVC

__all__ = [
    "SVC",
    "SVMRFE",
    "AlignmentSelector",
    "BendersSelector",
    "EvaluationRFE",
    "ExactSelector",
    "FSVSelector",
    "FeatureGeneratingMachine",
    "FlipSelector",
    "InformationGain",
    "L1SVMSelector",
    "LagrangianSelector",
    "LinearSVC",
    "MBPSelector",
    "Progress",
    "Rules",
    "__version__",
]
