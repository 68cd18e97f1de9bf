# SPDX-License-Identifier: Apache-2.0
# The page about clusters uses three hosts, whose places have one worker each here, Slurm and
# Kubernetes. Scripts take the place of their commands and check the arguments; srun runs the places
# in one process, and kubectl starts nothing.
source "$PREPARE/three_hosts.sh"
export APGAS_WORKERS=1
cp "$(command -v uts)" .
cat > ~/bin/srun << 'END'
#!/bin/bash
[ "$*" != --mpi=list ] || exec echo "MPI plugin types are... none pmix"
flags='-n 2 --mpi=pmix --export=ALL --cpu-bind=none --kill-on-bad-exit=1 --cpus-per-task=16 '
[[ "$* " = "$flags"* ]] || { echo "srun $*" >&2; exit 1; }
APGAS_TRANSPORT=local APGAS_PLACES=2 exec "${@:8}"
END
cat > ~/bin/salloc << 'END'
#!/bin/bash
while [[ $1 = --* ]]; do
  case $1 in
    --nodes=2 | --time=00:10:00) ;;
    --ntasks-per-node=1) export SLURM_NTASKS=2 ;;
    --cpus-per-task=16) export SLURM_CPUS_PER_TASK=16 SLURM_JOB_CPUS_PER_NODE='16(x2)' ;;
    *) echo "salloc $1" >&2; exit 1 ;;
  esac
  shift
done
export SLURM_JOB_ID=1
exec "$@"
END
cat > ~/bin/sbatch << 'END'
#!/bin/bash
mapfile -t options < <(sed -n 's/^#SBATCH //p' "$1")
exec salloc "${options[@]}" bash "$1"
END
cat > ~/bin/kubectl << 'END'
#!/bin/bash
case "$*" in
  "apply -f uts.yaml") test -s uts.yaml ;;
  "wait --for=condition=Succeeded mpijob/uts --timeout=10m" | "delete mpijob uts") ;;
  "logs -l training.kubeflow.org/job-name=uts,training.kubeflow.org/job-role=launcher") ;;
  *) echo "kubectl $*" >&2; exit 1 ;;
esac
END
chmod +x ~/bin/*
