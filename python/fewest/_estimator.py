"""What all estimators have: tags that others ask, and signatures, constraints and docstrings that are made complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from fewest._docs import SITE, complete_class, complete_methods
from fewest._parameters import has_signature
from fewest._rules import _Index


@dataclass(frozen=True)
class Tags:
    """What an estimator says of itself by ``__fewest_tags__``, beside scikit-learn's ``__sklearn_tags__``."""

    page: str = "docs/use/choosing.md"
    """Its page in the repository."""
    binary_only: bool = True
    """Whether it takes two classes only."""
    finds_size: bool = False
    """Whether the method finds a size by itself, so that none need be given."""
    shards: str = "none"
    """Whether it takes columns that are spread over workers: "none", "binary" (of two classes only), "any"."""
    size_name: str = "n_features_to_select"
    """The parameter of the size."""
    remedy: str = ""
    """What helps where a limit ends it."""
    is_function: bool = False
    """Whether users know it as a function, which is no step of a pipeline."""
    deals_folds: bool = False
    """Whether something is chosen by folds, so that fit takes groups."""
    chooses_size: bool = False
    """Whether cross-validation chooses the size."""


def tags_of(estimator: Any) -> Tags:
    """The tags of an estimator; of one that knows none what is true of most."""
    tags: Tags = estimator.__fewest_tags__() if hasattr(estimator, "__fewest_tags__") else Tags()
    return tags


class Estimator(BaseEstimator):
    """Base of all estimators. Its HTML display links to the page of its method."""

    _tags = Tags()
    #: Attributes that a fit sets, by name, with parameters that they go with.
    _attributes: Mapping[str, tuple[str, str]] = {}
    _doc_link_module = "fewest"
    _doc_link_template = SITE + "{page}"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        complete_methods(cls)
        if has_signature(cls):
            complete_class(cls, cls._attributes)

    def __fewest_tags__(self) -> Tags:
        return self._tags

    def _index(self, place: str = "a rule") -> _Index:
        """Where the features are that a fit saw; ``place`` names what lists them."""
        return _Index(self.n_features_in_, getattr(self, "feature_names_in_", None), place)

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"page": self.__fewest_tags__().page}
