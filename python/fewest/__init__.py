"""Feature selection for support vector machines, fast, and with proof of how good the answer is.

Most need :class:`SVMRFE` (fast), :class:`ExactSelector` (proven best), :class:`Study` (everything
chosen inside folds), :func:`evaluate` and :class:`Rules`. Programs of papers, to compare with, are
in :mod:`fewest.papers`.
"""

from fewest._certify import Certificate, certify
from fewest._columns import ColumnFile
from fewest._compare import Comparison, compare
from fewest._core import __version__
from fewest._display import DecisionCurveDisplay, SearchDisplay, SelectionPathDisplay, StabilityDisplay
from fewest._elimination import SVMRFE
from fewest._engine import Progress
from fewest._evaluate import Evaluation, evaluate
from fewest._evaluation import EvaluationRFE
from fewest._exact import AlignmentSelector, ExactSelector
from fewest._export import export_model
from fewest._filter import InformationGain
from fewest._generating import FeatureGeneratingMachine
from fewest._knockoffs import Knockoffs, knockoffs
from fewest._l1 import L1SVMSelector
from fewest._markers import Markers, markers
from fewest._mbp import LagrangianSelector, MBPSelector
from fewest._memory import set_memory
from fewest._model import TrainedModel, load_model
from fewest._read import Table, read_table
from fewest._rules import Rules
from fewest._stability import Stability, stability
from fewest._study import Study
from fewest._svc import SVC
from fewest._svm import LinearSVC
from fewest._verify import Verification, verify

# What most need comes first.
__all__ = [
    "SVMRFE",
    "ExactSelector",
    "Study",
    "evaluate",
    "Rules",
    "AlignmentSelector",
    "EvaluationRFE",
    "FeatureGeneratingMachine",
    "InformationGain",
    "L1SVMSelector",
    "LagrangianSelector",
    "MBPSelector",
    "LinearSVC",
    "SVC",
    "read_table",
    "certify",
    "compare",
    "knockoffs",
    "markers",
    "stability",
    "verify",
    "Certificate",
    "Comparison",
    "Evaluation",
    "Knockoffs",
    "Markers",
    "Stability",
    "Table",
    "TrainedModel",
    "Verification",
    "DecisionCurveDisplay",
    "SearchDisplay",
    "SelectionPathDisplay",
    "StabilityDisplay",
    "ColumnFile",
    "Progress",
    "export_model",
    "load_model",
    "set_memory",
    "__version__",
]
