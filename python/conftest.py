"""What pytest does not examine."""

import importlib.util

# `pytest --doctest-modules` imports every module; Dask is an extra.
collect_ignore = [] if importlib.util.find_spec("distributed") else ["fewest/dask.py"]
