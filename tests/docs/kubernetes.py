#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the job of Kubernetes in a document, without a cluster: kubernetes.py DOCUMENT

It needs PyYAML. If the package kubernetes-validate of PyPI is installed, the pods are also compared
with the schema of Kubernetes.
"""

import pathlib
import sys

import documents
import marks
import yaml

HOME = pathlib.PurePath("/home/apgas")  # of the user in docker/Dockerfile
USER = 1000


def problems_of_pod(role, pod):
    declared = {volume["name"] for volume in pod.get("volumes", [])}
    for container in pod["containers"]:
        if container["securityContext"]["runAsUser"] != USER:
            yield f"{role} does not run as the user apgas of the image, {USER}"
        mounts = {mount["name"]: mount["mountPath"] for mount in container.get("volumeMounts", [])}
        if not set(mounts) <= declared:
            yield f"{role} mounts a volume that it does not declare"
        if role == "Worker" and "/dev/shm" not in mounts.values():
            yield "Worker has no /dev/shm of its own"
        if role == "Worker" and not (documents.ROOT / "docker" / container["command"][0]).is_file():
            yield f"docker has no {container['command'][0]}"


def schema_problem(role, pod):
    try:
        import kubernetes_validate
    except ImportError:
        return None
    resource = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": role.lower()}, "spec": pod}
    try:
        kubernetes_validate.validate(resource, kubernetes_validate.latest_version(), strict=True)
    except kubernetes_validate.ValidationError as error:
        return f"{role}: {error.message}"
    return None


def problems_of(job):
    spec = job["spec"]
    if (job["apiVersion"], job["kind"]) != ("kubeflow.org/v2beta1", "MPIJob"):
        yield "this is no MPIJob of v2beta1"
    if pathlib.PurePath(spec["sshAuthMountPath"]) != HOME / ".ssh":
        yield f"the key for ssh is not in {HOME}"
    pods = {role: replica["template"]["spec"] for role, replica in spec["mpiReplicaSpecs"].items()}
    for role, pod in pods.items():
        yield from problems_of_pod(role, pod)
        if problem := schema_problem(role, pod):
            yield problem
    tool, *words = pods["Launcher"]["containers"][0]["command"]
    for option in marks.unknown_options(marks.tool_named(tool), words):
        yield f"{tool} --help does not have the option {option}"
    slots = spec["slotsPerWorker"] * spec["mpiReplicaSpecs"]["Worker"]["replicas"]
    if int(words[words.index("-n") + 1]) > slots:
        yield "there are fewer slots than places"


def main():
    document = sys.argv[1]
    jobs = [(line, yaml.safe_load(code)) for line, language, _, code in documents.blocks(document)
            if language == "yaml"]
    found = [f"{document}:{line}: {problem}" for line, job in jobs for problem in problems_of(job)]
    if not jobs:
        found.append(f"{document} has no job")
    sys.exit("\n".join(found) if found else 0)


if __name__ == "__main__":
    main()
