"""Data that many tests use, and Ctrl-C."""

import os
import signal
import threading
from contextlib import contextmanager

from sklearn.datasets import make_classification
from sklearn.preprocessing import scale


def problem(n=60, p=12, seed=0, classes=2):
    X, y = make_classification(
        n, p, n_informative=4, n_redundant=0, n_classes=classes, n_clusters_per_class=1, flip_y=0.1, random_state=seed
    )
    return scale(X), y


@contextmanager
def ctrl_c(after):
    """One SIGINT to this process after some seconds."""
    # What runs in the background is started with Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
