"""The methods of the tables of aytug2015, and how each is run. Standard library only."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """How a method of the tables is run."""

    label: str
    name: str  # for --method
    experiments: tuple = (1, 2, 3)
    form: str = "M"  # "M": --max-features M; "lambda": --penalty; "free": neither
    tuned: tuple = (1, 2, 3)  # the experiments in which it has its own C, as in the paper; else it has RFE's
    options: str = ""
    limit: float = 60  # seconds of a solve
    second: float = None  # the same in experiment 2, where it differs
    known: str = ""  # the label in keys, where it is another

    @property
    def key(self):
        return self.known or self.label

    def within(self, experiment):
        """Seconds of a solve in an experiment."""
        return self.second if experiment == 2 and self.second else self.limit


EARLY = 0.2  # seconds, for what a short run costs
SURE = "exact, RFE's C"

# The one list of methods. RFE comes first, as its C is used by others.
METHODS = [
    Method("RFE", "rfe"),
    # WEKA, which the paper uses, cuts by the MDL rule and fills up to M with features of gain 0; 10
    # bins give all a gain.
    Method("InfoGain", "info-gain", options="--binning 10"),
    Method("ONSVM", "l1-svm", form="free"),
    Method("GBD-M", "gbd", tuned=(1, 3), options="--gap 1e-4 --validate", limit=5, second=2),
    Method("GBD-M, early", "gbd", experiments=(1,), tuned=(), options="--gap 1e-4 --validate", limit=EARLY, known="GBD-M"),
    Method("GBD-M/plain", "gbd", tuned=(), options="--gap 1e-4 --validate --plain", limit=5, second=2),
    Method("GBD-λ", "gbd", experiments=(3,), form="lambda", tuned=(), options="--gap 1e-4 --validate", limit=5),
    Method("GBD-λ/plain", "gbd", experiments=(3,), form="lambda", tuned=(), options="--gap 1e-4 --validate --plain", limit=5),
    Method("FSV", "fsv", experiments=(1, 3), form="fsv", tuned=(), limit=5),
    Method("exact", "exact", tuned=(1, 3), options="--gap 1e-4", limit=5, second=3),
    Method(SURE, "exact", experiments=(1, 3), tuned=(), options="--gap 1e-4", known="exact"),
]
