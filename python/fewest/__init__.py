"""Feature selection for support vector machines, fast, and with proof of how good the answer is."""

from fewest._certify import Certificate, certify
from fewest._columns import ColumnFile
from fewest._conic import NMMKLSelector, QCQPSelector
from fewest._core import __version__
from fewest._display import SearchDisplay, SelectionPathDisplay, StabilityDisplay
from fewest._elimination import SVMRFE
from fewest._engine import Progress
from fewest._evaluate import Evaluation, evaluate
from fewest._evaluation import EvaluationRFE, FlipSelector
from fewest._exact import AlignmentSelector, BendersSelector, ExactSelector
from fewest._export import export_model
from fewest._filter import InformationGain
from fewest._generating import FeatureGeneratingMachine
from fewest._knockoffs import Knockoffs, knockoffs
from fewest._l1 import FSVSelector, L1SVMSelector
from fewest._mbp import LagrangianSelector, MBPSelector
from fewest._memory import set_memory
from fewest._program import MILOKSelector, MILP1Selector, MILP2Selector, RMILOKSelector
from fewest._rules import Rules
from fewest._stability import Stability, stability
from fewest._study import Study
from fewest._svc import SVC
from fewest._svm import LinearSVC
from fewest._verify import Verification, verify

__all__ = [
    "SVC",
    "SVMRFE",
    "AlignmentSelector",
    "BendersSelector",
    "Certificate",
    "ColumnFile",
    "Evaluation",
    "EvaluationRFE",
    "ExactSelector",
    "FSVSelector",
    "FeatureGeneratingMachine",
    "FlipSelector",
    "InformationGain",
    "Knockoffs",
    "L1SVMSelector",
    "LagrangianSelector",
    "LinearSVC",
    "MBPSelector",
    "MILOKSelector",
    "MILP1Selector",
    "MILP2Selector",
    "NMMKLSelector",
    "Progress",
    "QCQPSelector",
    "RMILOKSelector",
    "Rules",
    "SearchDisplay",
    "SelectionPathDisplay",
    "Stability",
    "StabilityDisplay",
    "Study",
    "Verification",
    "__version__",
    "certify",
    "evaluate",
    "export_model",
    "knockoffs",
    "set_memory",
    "stability",
    "verify",
]
