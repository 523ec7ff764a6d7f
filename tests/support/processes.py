"""Facts about running processes, from Linux."""

import os
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident_mib(pid: int) -> float:
    """Return the resident memory of a process, in MiB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE / 2**20


def threads(pid: int) -> int:
    """Return the number of threads of a process."""
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def cpu_seconds(pid: int) -> float:
    """Return the user and system CPU time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children(pid: int) -> list[int]:
    """Return the child processes of a process, including zombies."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue  # it has ended
            if int(stat.rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.name))
    return found


def command_of(pid: int) -> list[str]:
    """Return the command line of a process."""
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]


def is_running(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def tcp_ports(pid: int) -> set[int]:
    """Return the TCP ports on which a process listens."""
    sockets = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            sockets.add(str(entry.readlink()))
        except OSError:
            continue  # it has been closed
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:  # 0A: listening
                ports.add(int(fields[1].rpartition(":")[2], 16))
    return ports
