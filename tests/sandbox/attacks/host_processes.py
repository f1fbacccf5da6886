"""Host attacks with and on processes: starting some, outliving the judge, and changing others by their number."""

from __future__ import annotations

from .host_kernel import KERNEL
from .records import Host, Tier

MARK = "open(FOLDER + '/new', 'w').write('x')"
LATER_SECONDS = 0.8
SPAN = """
class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
def stack():
    for line in open(f"/proc/{VICTIM}/maps"):
        if "[stack]" in line:
            return [int(part, 16) for part in line.split()[0].split("-")]
"""


def _does(
    name: str, *lines: str, before: str = "", needs: str = "", settle: float = 0.0, tier: Tier = "strong"
) -> Host:
    body = "".join(f"    {line}\n" for line in lines)
    return Host(name, f"{KERNEL}import signal, sys, time\n{before}\ndef attack(x):\n{body}", tier, needs, settle)


STARTING = (
    _does("starts a shell", "import subprocess", "subprocess.run(['/bin/sh', '-c', f'echo > {FOLDER}/new'])"),
    _does(
        "starts a shell by posix_spawn",
        "os.waitpid(os.posix_spawn('/bin/sh', ['sh', '-c', f'echo > {FOLDER}/new'], {}), 0)",
    ),
    _does("starts a shell by system", "os.system(f'echo > {FOLDER}/new')"),
    _does("becomes a shell", "os.execv('/bin/sh', ['sh', '-c', f'echo > {FOLDER}/new'])"),
    _does(
        "becomes a file in memory",
        "at = os.memfd_create('x')",
        "os.write(at, open('/bin/sh', 'rb').read())",
        "os.execve(at, ['sh', '-c', f'echo > {FOLDER}/new'], {})",
    ),
    _does(
        "becomes its own interpreter",
        "os.execv(sys.executable, [sys.executable, '-c', 'import os, sys; os.mkdir(sys.argv[1])', FOLDER + '/new'])",
    ),
    _does(
        "forks by clone3",
        "how = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17)",
        "if call(435, ctypes.byref(how), 88) == 0:",
        f"    {MARK}",
        "    os._exit(0)",
        "os.wait()",
    ),
    _does(
        "forks by vfork's flags",
        "if call(NR['clone'], 17, 0, 0, 0, 0) == 0:",
        f"    {MARK}",
        "    os._exit(0)",
        "os.wait()",
    ),
    _does(
        "works in a pool of processes",
        "import multiprocessing",
        "child = multiprocessing.get_context('fork').Process(target=lambda: (" + MARK + "))",
        "child.start()",
        "child.join()",
    ),
    _does("opens a terminal", "import pty", "pid, fd = pty.fork()", "if pid == 0: os._exit(0)", "return 'REACHED'"),
    _does(
        "strikes later, as a child of its parent's",
        "if call(NR['clone'], 0x8000 | 17, 0, 0, 0, 0) == 0:",  # CLONE_PARENT
        "    os.setsid()",
        f"    time.sleep({LATER_SECONDS})",
        f"    {MARK}",
        "    os._exit(0)",
        settle=1.5,
    ),
    _does(
        "strikes later, deaf to signals",
        "if os.fork() == 0:",
        "    os.setsid()",
        "    libc.prctl(1, 0)",
        "    for number in range(1, 32):",
        "        if number not in (9, 19): signal.signal(number, signal.SIG_IGN)",
        "    if os.fork(): os._exit(0)",
        f"    time.sleep({LATER_SECONDS})",
        f"    {MARK}",
        "    os._exit(0)",
        settle=1.5,
    ),
    _does(
        "strikes later, always another process",
        "end = time.monotonic() + 0.8",
        "if os.fork() == 0:",
        "    os.setsid()",
        "    while time.monotonic() < end:",
        "        if os.fork(): os._exit(0)",
        "        time.sleep(0.002)",
        f"    {MARK}",
        "    os._exit(0)",
        settle=1.5,
    ),
)
STRIKING = (
    _does("stops another process", "os.kill(VICTIM, 19)"),
    _does("ends another process by its group", "os.killpg(VICTIM, 15)"),
    _does("ends another process by a descriptor", "signal.pidfd_send_signal(os.pidfd_open(VICTIM), 15)"),
    _does("ends a thread of another process", "call(NR['tgkill'], VICTIM, VICTIM, 15)"),
    _does(
        "queues a signal for another process",
        "call(NR['rt_sigqueueinfo'], VICTIM, 15, (ctypes.c_int32 * 32)(15, 0, -1))",
    ),
    _does(
        "ends another process by the owner of a pipe",
        "import fcntl",
        "reader, writer = os.pipe()",
        "fcntl.fcntl(reader, fcntl.F_SETOWN, VICTIM)",
        "fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC)",
        "os.write(writer, b'x')",
        "time.sleep(0.05)",
    ),
    _does(
        "takes a descriptor of another process",
        "for fd in range(3, 9):",
        "    try: return os.read(call(438, os.pidfd_open(VICTIM), fd, 0), 99).decode()",
        "    except OSError: pass",
    ),
    _does(
        "writes into another process",
        "start, end = stack()",
        "libc.ptrace.argtypes = [ctypes.c_long] * 2 + [ctypes.c_void_p] * 2",
        "room = ctypes.create_string_buffer(8)",
        "here, there = Span(ctypes.addressof(room), 8), Span(end - 8, 8)",
        "call(NR['process_vm_writev'], VICTIM, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)",
        "return 'REACHED'",
        before=SPAN,
    ),
    _does("seizes another process", "call(NR['ptrace'], 0x4206, VICTIM, 0, 0)", "return 'REACHED'"),
    _does("slows another process", "os.setpriority(os.PRIO_PROCESS, VICTIM, 19)"),
    _does("keeps another process from a core", "os.sched_setaffinity(VICTIM, {0})", needs="two cores"),
    _does("schedules another process", "os.sched_setscheduler(VICTIM, os.SCHED_BATCH, os.sched_param(0))"),
    _does("limits another process", "import resource", "resource.prlimit(VICTIM, resource.RLIMIT_NOFILE, (9, 9))"),
    _does("slows the disk for another process", "call(NR['ioprio_set'], 1, VICTIM, 3 << 13)"),
    _does("holds another process by a descriptor", "os.pidfd_open(VICTIM)", "return 'REACHED'"),
    _does("raises its own priority", "os.setpriority(os.PRIO_PROCESS, 0, -5)", "return 'REACHED'", needs="root"),
)
PROCESS_ATTACKS = STARTING + STRIKING
