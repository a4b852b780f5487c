"""The compose file, the file for Kubernetes and the Dockerfile.

Commands of the compose file run as plain processes on a real PostgreSQL, without a container engine.
"""

import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.end_to_end.tiny_study import Run, TinyStudy

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "p@ss/word"  # characters that would break a connection URL
POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))

needs_compose = pytest.mark.skipif(not shutil.which("docker-compose"), reason="docker-compose is not installed")
needs_postgres = pytest.mark.skipif(not POSTGRES, reason="PostgreSQL's server is not installed")


def compose_config(**environment: str) -> subprocess.CompletedProcess[str]:
    profiles = [word for name in ("gpu", "dask", "dask-gpu") for word in ("--profile", name)]
    command = ["docker-compose", "-f", "docker/compose.yaml", *profiles, "config"]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("SWAYMETER_")}
    return subprocess.run(command, cwd=ROOT, env=plain | environment, capture_output=True, text=True, check=False)


VARIABLES = {"SWAYMETER_DATABASE_PASSWORD": PASSWORD, "DASK_SCHEDULER_ADDRESS": "tcp://dask-scheduler:8786"}


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """Return the services with values for their variables, so that their commands run without an engine."""
    text = (ROOT / "docker/compose.yaml").read_text()
    filled = re.sub(r"\$\{(\w+):?([-?])([^}]*)\}", lambda match: VARIABLES.get(match[1], match[3]), text)
    services: dict[str, Any] = yaml.safe_load(filled)["services"]
    return services


@needs_compose
def test_docker_compose_accepts_the_file() -> None:
    process = compose_config(**VARIABLES)
    assert process.returncode == 0, process.stderr
    assert yaml.safe_load(process.stdout)["services"].keys() >= {"server", "worker-gpu", "dask-worker-gpu"}


@needs_compose
def test_compose_file_has_no_default_password() -> None:
    process = compose_config()
    assert process.returncode != 0
    assert "SWAYMETER_DATABASE_PASSWORD" in process.stderr


def test_only_this_machine_reaches_the_services(services: dict[str, Any]) -> None:
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_workers_share_workspaces_and_two_have_gpu(services: dict[str, Any]) -> None:
    workers = {name: service for name, service in services.items() if "worker" in name}
    assert len(workers) == 4
    for name, service in workers.items():
        assert service["volumes"] == ["workspaces:/app/workspaces"]
        assert ("deploy" in service) == name.endswith("gpu")
    for name, profile in (("worker-gpu", "gpu"), ("dask-worker-gpu", "dask-gpu")):
        (device,) = workers[name]["deploy"]["resources"]["reservations"]["devices"]
        assert device["driver"] == "nvidia"
        assert workers[name]["profiles"] == [profile]


@pytest.fixture(scope="module")
def objects() -> dict[tuple[str, str], Any]:
    """Return the objects of the file for Kubernetes, by kind and name."""
    documents = yaml.safe_load_all((ROOT / "docker/kubernetes.yaml").read_text())
    return {(document["kind"], document["metadata"]["name"]): document for document in documents}


def containers(objects: dict[tuple[str, str], Any]) -> dict[str, tuple[Any, Any]]:
    """Return the pod template and its only container for each deployment and job, by name."""
    specs = {name: entry["spec"] for (kind, name), entry in objects.items() if kind in ("Deployment", "Job")}
    templates = {name: spec["template"] for name, spec in specs.items()}
    assert [len(template["spec"]["containers"]) for template in templates.values()] == [1] * len(templates)
    return {name: (template, template["spec"]["containers"][0]) for name, template in templates.items()}


def test_kubernetes_runs_the_commands_of_the_compose_file(
    services: dict[str, Any], objects: dict[tuple[str, str], Any]
) -> None:
    pods = containers(objects)
    assert pods.keys() == services.keys()
    for name, (_, container) in pods.items():
        service = services[name]
        assert (container["image"], container.get("command")) == (service["image"], service.get("command")), name
        assert {mount["mountPath"] for mount in container.get("volumeMounts", ())} == {
            volume.partition(":")[2] for volume in service.get("volumes", ())
        }
        variables = {variable["name"] for variable in container.get("env", ())}
        if container.get("envFrom") == [{"configMapRef": {"name": "client"}}]:
            variables |= objects["ConfigMap", "client"]["data"].keys()
        assert service.get("environment", {}).keys() <= variables, name
    assert objects["ConfigMap", "client"]["data"] == {
        "PREFECT_API_URL": services["worker-cpu"]["environment"]["PREFECT_API_URL"],
        "DASK_SCHEDULER_ADDRESS": "tcp://dask-scheduler:8786",
    }


def test_objects_of_kubernetes_find_each_other(objects: dict[tuple[str, str], Any]) -> None:
    pods = containers(objects)
    for (kind, name), entry in objects.items():
        assert entry["metadata"]["labels"]["app"] == "swaymeter"
        if kind == "Deployment":
            assert entry["spec"]["selector"]["matchLabels"] == entry["spec"]["template"]["metadata"]["labels"]
        if kind == "Service":  # the name of a service is the host in addresses
            template, container = pods[name]
            assert entry["spec"]["selector"] == template["metadata"]["labels"]
            ports = [port["containerPort"] for port in container["ports"]]
            assert [port["port"] for port in entry["spec"]["ports"]] == ports
    for template, container in pods.values():
        spec = template["spec"]
        assert (spec["automountServiceAccountToken"], spec["enableServiceLinks"]) == (False, False)
        claims = {volume["name"]: volume["persistentVolumeClaim"]["claimName"] for volume in spec.get("volumes", ())}
        assert {mount["name"] for mount in container.get("volumeMounts", ())} == claims.keys()
        assert {("PersistentVolumeClaim", claim) for claim in claims.values()} <= objects.keys()
        secrets = [row["valueFrom"] for row in container.get("env", ()) if "PASSWORD" in row["name"]]
        assert all(secret == {"secretKeyRef": {"name": "swaymeter", "key": "password"}} for secret in secrets)
    assert objects["PersistentVolumeClaim", "workspaces"]["spec"]["accessModes"] == ["ReadWriteMany"]
    assert objects["NetworkPolicy", "swaymeter"]["spec"]["ingress"] == [
        {"from": [{"podSelector": {"matchLabels": {"app": "swaymeter"}}}]}
    ]
    with_gpu = {name for name, (_, container) in pods.items() if container.get("resources", {}).get("limits")}
    assert with_gpu == {name for (_, name), entry in objects.items() if "profile" in entry["metadata"]["labels"]}
    assert with_gpu == {"worker-gpu", "dask-worker-gpu"}


def test_image_copies_what_exists_and_runs_unprivileged() -> None:
    lines = [line.split() for line in (ROOT / "docker/Dockerfile").read_text().splitlines() if line[:1].isupper()]
    copied = [name for line in lines if line[0] == "COPY" for name in line[1:-1]]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert ["USER", "swaymeter"] in lines
    ignore = (ROOT / "docker/Dockerfile.dockerignore").read_text().splitlines()
    assert [name for name in copied if f"!{name}" not in ignore] == []


@dataclass(frozen=True)
class DeployedServer:
    """The service `server` on a PostgreSQL, after `deploy` has ended."""

    services: "Services"
    server: subprocess.Popen[bytes]
    api: httpx.Client

    def deployments(self) -> dict[str, Any]:
        """Return the deployments that `deploy` has registered, by name."""
        return {row["name"]: row for row in self.api.post("/deployments/filter", json={}).json()}


@pytest.fixture(scope="module")
def deployed_server(services: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeployedServer]:
    """Yield a server of Prefect with the deployments of prefect.yaml."""
    port, database_port, dask_port = free_port(), free_port(), free_port()
    ports = {"4200": str(port), "5432": str(database_port), "8786": str(dask_port)}
    local_services = Services(services, tmp_path_factory.mktemp("compose"), ports)
    with ExitStack() as stack:
        stack.enter_context(postgresql(services["database"]["environment"], database_port))
        server = stack.enter_context(local_services.run("server"))
        wait_until(lambda: local_services.is_healthy("server"), server)
        api = stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{port}/api", trust_env=False, timeout=60))
        deploy = stack.enter_context(local_services.run("deploy"))
        assert deploy.wait(240) == 0, local_services.output("deploy")
        yield DeployedServer(local_services, server, api)


@pytest.fixture(scope="module")
def worker(deployed_server: DeployedServer) -> Iterator["subprocess.Popen[bytes]"]:
    """Yield the worker without a GPU."""
    with deployed_server.services.run("worker-cpu") as process:
        yield process


@pytest.mark.deployments
@needs_postgres
def test_server_deployments_and_workers_start_on_postgresql(
    deployed_server: DeployedServer, worker: "subprocess.Popen[bytes]"
) -> None:
    api, deployments = deployed_server.api, deployed_server.deployments()
    described = {row["name"] for row in yaml.safe_load((ROOT / "prefect.yaml").read_text())["deployments"]}
    assert deployments.keys() == described >= {"failed", "gpu", "refresh", "report", "study"}
    assert [row["schedule"]["cron"] for row in deployments["study"]["schedules"]] == ["0 3 * * 1"]
    for row in deployments.values():  # no folder of a machine, because each worker has its own
        assert row["pull_steps"] == [{"swaymeter.flows.server.home.enter": {}}]
    automations = api.post("/automations/filter", json={}).json()
    assert deployments["failed"]["id"] in [row["actions"][0].get("deployment_id") for row in automations]

    with deployed_server.services.run("worker-gpu") as gpu:
        wait_until(lambda: count_workers(api) == 2, worker, gpu)
        wait_until(lambda: count_runs(api, deployments["study"]["id"]) > 0, deployed_server.server)
    assert "Traceback" not in deployed_server.services.output("server")


@pytest.mark.deployments
@needs_postgres
def test_a_deployment_scores_on_two_dask_workers(
    deployed_server: DeployedServer,
    worker: "subprocess.Popen[bytes]",
    undisturbed: tuple[TinyStudy, Run],
    tmp_path: Path,
) -> None:
    distributed = pytest.importorskip("distributed")
    local_services, deployment_id = deployed_server.services, deployed_server.deployments()["study"]["id"]
    study = undisturbed[0].with_two_measures(tmp_path / "fewer.yaml").copy(tmp_path / "space", with_files=False)
    parameters = {"study": str(study.file), "workspace": str(study.workspace), "runner": "dask"}
    body = {"parameters": parameters | {"stages": ["fetch", "build", "score"]}}

    def state() -> str:
        return str(deployed_server.api.get(f"/flow_runs/{run_id}").json()["state_name"])

    with ExitStack() as stack:
        names = ("dask-scheduler", "dask-worker-cpu", "dask-worker-cpu")
        processes = [worker, *(stack.enter_context(local_services.run(name)) for name in names)]
        response = deployed_server.api.post(f"/deployments/{deployment_id}/create_flow_run", json=body)
        run_id = response.raise_for_status().json()["id"]
        address = local_services.environment("worker-cpu")["DASK_SCHEDULER_ADDRESS"]
        with distributed.Client(address, set_as_default=False) as client:
            wait_until(lambda: state() in {"Completed", "Failed", "Crashed"}, *processes, seconds=150)
            assert state() == "Completed", local_services.output("worker-cpu")
            steps = client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert (len(steps), sum(steps.values())) == (2, 3)  # two workers, and a step for each of three relations
    scores, expected = study.scores(), undisturbed[0].scores()
    persuasion = {name: rows for name, rows in scores.items() if "/persuasion-" in name}
    assert (len(scores), len(persuasion)) == (2 * 3, 3)  # two measures of three relations
    # A file has one chunk here, and two in the undisturbed study. So its persuasions may differ by rounding.
    for name, rows in persuasion.items():
        assert rows.drop("persuasion") == expected[name].drop("persuasion")
        assert rows["persuasion"].to_numpy() == pytest.approx(expected[name]["persuasion"].to_numpy(), abs=1e-5)


def count_workers(api: httpx.Client) -> int:
    """Count the workers that have registered in the pool."""
    return len(api.post("/work_pools/swaymeter/workers/filter", json={}).json())


def count_runs(api: httpx.Client, deployment_id: str) -> int:
    """Count the runs of a deployment, such as the runs that the server's scheduler has planned."""
    return int(api.post("/flow_runs/count", json={"deployments": {"id": {"any_": [deployment_id]}}}).json())


class Services:
    """Services of the compose file as local processes: hosts become 127.0.0.1, and ports become free ports."""

    def __init__(self, services: dict[str, Any], folder: Path, ports: Mapping[str, str]) -> None:
        self.services = services
        self.folder = folder
        self.replacements = {"server:": "127.0.0.1:", "dask-scheduler:": "127.0.0.1:", "0.0.0.0": "127.0.0.1", **ports}

    @contextmanager
    def run(self, name: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run the command of a service in its environment, and write its output into a file."""
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [self.localise(part) for part in self.services[name]["command"]],
                cwd=ROOT,
                env=self.environment(name),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
            try:
                yield process
            finally:
                process.terminate()
                try:
                    process.wait(15)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    def is_healthy(self, name: str) -> bool:
        """Return True if the service passes its own health check."""
        _, *command = self.services[name]["healthcheck"]["test"]
        command = [self.localise(part) for part in command]
        return subprocess.run(command, env=self.environment(name), capture_output=True, check=False).returncode == 0

    def output(self, name: str) -> str:
        """Return the output of the service so far."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def localise(self, text: str) -> str:
        longest_first = sorted(map(re.escape, self.replacements), key=len, reverse=True)
        return re.sub("|".join(longest_first), lambda match: self.replacements[match[0]], text)

    def environment(self, name: str) -> dict[str, str]:
        foreign = ("PREFECT_", "NO_PROXY", "no_proxy")
        plain = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
        own = {key: self.localise(value) for key, value in self.services[name].get("environment", {}).items()}
        if "PREFECT_SERVER_DATABASE_HOST" in own:
            own["PREFECT_SERVER_DATABASE_HOST"] = "127.0.0.1"
        return (
            plain
            | {
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "PREFECT_HOME": str(self.folder / "prefect"),
                "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
                "DO_NOT_TRACK": "1",
                "PREFECT_WORKER_QUERY_SECONDS": "1",
                "SWAYMETER_HOME": str(ROOT),
                "HF_HUB_OFFLINE": "1",
                "OMP_NUM_THREADS": "1",
                "NO_PROXY": "127.0.0.1",
            }
            | own
        )


@contextmanager
def postgresql(environment: dict[str, str], port: int) -> Iterator[None]:
    """Run a PostgreSQL with the settings of the database service.

    PostgreSQL refuses to run as root, so root starts it as the user postgres.
    """
    tools = POSTGRES[-1].parent
    owner = pwd.getpwnam("postgres") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    folder = Path(tempfile.mkdtemp(prefix="swaymeter-postgres-"))

    def run(tool: str, *arguments: str) -> None:
        user = owner.pw_name if os.geteuid() == 0 else None
        command = [str(tools / tool), *arguments]
        subprocess.run(command, user=user, cwd=folder, env={"HOME": str(folder)}, capture_output=True, check=True)

    try:
        (folder / "password").write_text(environment["POSTGRES_PASSWORD"])
        for path in (folder, folder / "password"):
            os.chown(path, owner.pw_uid, owner.pw_gid)
        data, user = str(folder / "data"), environment["POSTGRES_USER"]
        secret = ["--auth=scram-sha-256", f"--pwfile={folder / 'password'}"]
        run("initdb", "--pgdata", data, "--username", user, "--encoding", "UTF8", "--no-sync", *secret)
        options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off"

        def control(*arguments: str) -> None:
            log = str(folder / "log")
            run("pg_ctl", "--pgdata", data, "--options", options, "--log", log, "--wait", *arguments)

        control("start")
        try:
            create_database(environment, port)
            yield
        finally:
            control("stop", "--mode", "immediate")
    finally:
        shutil.rmtree(folder)


def create_database(environment: dict[str, str], port: int) -> None:
    """Create the database, as the container image of PostgreSQL does."""
    subprocess.run(
        [str(POSTGRES[-1].parent / "createdb"), "-h", "127.0.0.1", "-p", str(port), environment["POSTGRES_DB"]],
        env={"PGUSER": environment["POSTGRES_USER"], "PGPASSWORD": environment["POSTGRES_PASSWORD"]},
        capture_output=True,
        check=True,
    )


def wait_until(condition: Callable[[], bool], *processes: subprocess.Popen[bytes], seconds: float = 240) -> None:
    """Wait until a condition holds, and fail at once if one of the processes has ended."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert [process.poll() for process in processes] == [None] * len(processes), "a service ended early"
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s in vain"
        time.sleep(0.5)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
