"""The methods of the tables of aytug2015, and how each is run. Standard library only."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """How a method of the tables is run."""

    label: str
    name: str  # for --method
    experiments: tuple = (1, 2, 3)
    form: str = "M"  # "M": --max-features M; "lambda": --penalty; "free": neither
    tuned: bool = True  # at every C; else at the C that RFE chose
    options: str = ""
    limit: float = 60  # seconds of a solve
    second: float = None  # the same in experiment 2, where it differs

    def within(self, experiment):
        """Seconds of a solve in an experiment."""
        return self.second if experiment == 2 and self.second else self.limit


TUNING = 0.2  # seconds of a solve where every C is tried, of the methods that are run at RFE's C otherwise

# The one list of methods. RFE comes first, as its C is used by others.
METHODS = [
    Method("RFE", "rfe"),
    # WEKA, which the paper uses, cuts by the MDL rule and fills up to M with features of gain 0; 10
    # bins give all a gain.
    Method("InfoGain", "info-gain", options="--binning 10"),
    Method("ONSVM", "l1-svm", form="free"),
    Method("GBD-M", "gbd", tuned=False, options="--gap 1e-4 --validate", limit=5, second=2),
    Method("GBD-M/plain", "gbd", tuned=False, options="--gap 1e-4 --validate --plain", limit=5, second=2),
    Method("GBD-λ", "gbd", experiments=(3,), form="lambda", tuned=False, options="--gap 1e-4 --validate", limit=5),
    Method("GBD-λ/plain", "gbd", experiments=(3,), form="lambda", tuned=False, options="--gap 1e-4 --validate --plain", limit=5),
    Method("FSV", "fsv", experiments=(1, 3), form="fsv", tuned=False, limit=5),
    Method("exact", "exact", tuned=False, options="--gap 1e-4", second=3),
]
