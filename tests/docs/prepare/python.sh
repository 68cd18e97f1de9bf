# SPDX-License-Identifier: Apache-2.0
# The README of the Python package is read in the root of a clone, after the package was installed.
source "$PREPARE/python_and_c.sh"
mkdir -p apps/integrations
ln -s "$PREPARE/../../../apps/integrations/python" apps/integrations
