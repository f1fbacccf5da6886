"""Host attacks on the kernel's interfaces: what outlives a process, what watches others, what widens its own rights."""

from __future__ import annotations

from .records import Host

KERNEL = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
PAIRS = {
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "memfd_create": (319, 279), "kcmp": (312, 272),
    "get_robust_list": (274, 100), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27), "clone": (56, 220),
    "fanotify_init": (300, 262), "ioprio_set": (251, 30), "rt_sigqueueinfo": (129, 138), "tgkill": (234, 131),
    "personality": (135, 92), "syslog": (103, 116), "move_pages": (279, 239), "renameat2": (316, 276),
    "add_key": (248, 217), "keyctl": (250, 219), "unshare": (272, 97), "seccomp": (317, 277), "ptrace": (101, 117),
    "process_vm_writev": (311, 271), "splice": (275, 76), "sched_setattr": (314, 274), "lookup_dcookie": (212, 18),
    "perf_event_open": (298, 241), "bpf": (321, 280), "userfaultfd": (323, 282), "quotactl": (179, 60),
}
NR = {name: both[os.uname().machine != "x86_64"] for name, both in PAIRS.items()}
def call(number, *given):
    given = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in given]
    got = libc.syscall(ctypes.c_long(number), *given)
    if got < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return got
"""
FOREIGN = """
import ctypes, mmap
low = ctypes.CDLL(None).mmap
low.restype = ctypes.c_void_p
low.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
def attack(x):
    at = low(None, 4096, 7, 0x62, -1, 0)  # below 4 GB, where the old interface can point to
    path = (FOLDER + "/new").encode() + b"\\0"
    # push rbx; mov eax, 39 (mkdir); mov ebx, path; mov ecx, 0700; int 0x80; pop rbx; ret
    code = b"\\x53\\xb8\\x27\\0\\0\\0\\xbb" + (at + 2048).to_bytes(4, "little")
    code += b"\\xb9\\xc0\\1\\0\\0\\xcd\\x80\\x5b\\xc3"
    ctypes.memmove(at, code, len(code))
    ctypes.memmove(at + 2048, path, len(path))
    ctypes.CFUNCTYPE(ctypes.c_int)(at)()
"""
_REACHED = "return 'REACHED'"


def _calls(name: str, *lines: str, needs: str = "") -> Host:
    return Host(name, KERNEL + "def attack(x):\n" + "".join(f"    {line}\n" for line in lines), needs=needs)


KERNEL_ATTACKS = (
    _calls("leaves shared memory of System V", "libc.shmget(int(ID, 16), 4096, 0o1666)"),
    _calls("leaves semaphores of System V", "libc.semget(int(ID, 16), 1, 0o1666)"),
    _calls("leaves a message queue of System V", "libc.msgget(int(ID, 16), 0o1666)"),
    _calls("leaves a message queue of POSIX", "libc.mq_open(b'/' + ID.encode(), 0o102, 0o666, None)"),
    _calls("joins a keyring of its own", "call(NR['keyctl'], 1, ID.encode())", _REACHED),
    _calls("asks for the keyring of its user", "call(NR['keyctl'], 0, -4, 1)", _REACHED),
    _calls(
        "watches a folder",
        "call(NR['inotify_add_watch'], call(NR['inotify_init1'], 0), FOLDER.encode(), 0xFFF)",
        _REACHED,
    ),
    _calls("watches files by fanotify", "call(NR['fanotify_init'], 0x200, 0)", _REACHED),
    _calls("compares itself with another process", "call(NR['kcmp'], os.getpid(), VICTIM, 1, 0, 0)", _REACHED),
    _calls(
        "asks for the locks of another process",
        "head, size = ctypes.c_void_p(), ctypes.c_size_t()",
        "call(NR['get_robust_list'], VICTIM, ctypes.byref(head), ctypes.byref(size))",
        _REACHED,
    ),
    _calls("asks where memory of another process is", "call(NR['move_pages'], VICTIM, 0, 0, 0, 0, 0)", _REACHED),
    _calls("changes its personality", "call(NR['personality'], 0x0440000)", _REACHED),
    _calls(
        "reads the kernel's log", "call(NR['syslog'], 3, ctypes.create_string_buffer(99), 99)", _REACHED, needs="root"
    ),
    _calls("has a mount of its own, new interface", "call(430, b'tmpfs', 0)", _REACHED, needs="root"),
    _calls("makes a namespace with its own users and mounts", "call(NR['unshare'], 0x10020000)", _REACHED),
    _calls("makes a network namespace", "call(NR['unshare'], 0x50000000)", _REACHED),
    _calls("copies a part of the file tree", "call(428, -100, FOLDER.encode(), 0)", _REACHED),
    _calls("has memory that nobody can look into", "call(447, 0)", _REACHED),
    _calls("lets a submission queue work for it", "call(425, 2, ctypes.create_string_buffer(120))", _REACHED),
    _calls(
        "loads a program into the kernel",
        "call(NR['bpf'], 0, (ctypes.c_uint32 * 30)(2, 4, 8, 4), 72)",
        _REACHED,
        needs="root",
    ),
    _calls(
        "lists what is mounted",
        "call(458, (ctypes.c_uint64 * 4)(24, 2**64 - 1), (ctypes.c_uint64 * 64)(), 64, 0)",
        _REACHED,
    ),
    _calls("changes its root folder", "os.chroot(FOLDER)", _REACHED, needs="root"),
    _calls("becomes another user", "os.setuid(12345)", _REACHED, needs="root"),
    _calls(
        "names the machine as it is named",
        "import socket",
        "socket.sethostname(socket.gethostname())",
        _REACHED,
        needs="root",
    ),
    Host("speaks the system calls of 32 bits", FOREIGN, needs="x86_64"),
)
