"""What pytest does not look at."""

import importlib.util

# `pytest --doctest-modules` imports every module; Dask is an extra.
collect_ignore = [] if importlib.util.find_spec("distributed") else ["fewest/dask.py"]
