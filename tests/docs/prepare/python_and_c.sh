# SPDX-License-Identifier: Apache-2.0
# The page about Python imports the package, which is not built without pybind11.
python3 -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("apgas"))' ||
  { echo "the Python package is not built: it needs pybind11-dev and python3-dev"; exit 77; }
