"""Programs of papers, as published: to compare with, and to repeat their tables.

For an answer take others: :class:`~fewest.ExactSelector` solves the problem of
:class:`BendersSelector`, :class:`~fewest.AlignmentSelector` that of :class:`MILOKSelector` and
:class:`RMILOKSelector`, :class:`~fewest.FeatureGeneratingMachine` that of :class:`NMMKLSelector`.
"""

from fewest._conic import NMMKLSelector, QCQPSelector
from fewest._evaluation import FlipSelector
from fewest._exact import BendersSelector
from fewest._l1 import FSVSelector
from fewest._program import MILOKSelector, MILP1Selector, MILP2Selector, RMILOKSelector

__all__ = [
    "BendersSelector",
    "FSVSelector",
    "FlipSelector",
    "MILOKSelector",
    "MILP1Selector",
    "MILP2Selector",
    "NMMKLSelector",
    "QCQPSelector",
    "RMILOKSelector",
]
