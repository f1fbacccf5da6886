"""Host attacks by appetite: what takes the machine's memory, disk, descriptors or processes from everybody else."""

from __future__ import annotations

from .host_kernel import KERNEL
from .records import Host, Tier


def _takes(name: str, *lines: str, tier: Tier = "limited") -> Host:
    return Host(name, KERNEL + "def attack(x):\n" + "".join(f"    {line}\n" for line in lines), tier)


LIMIT_ATTACKS = (
    _takes("opens thousands of files", "held = [os.open('/', 0) for _ in range(2000)]", "return 'REACHED'"),
    _takes("opens hundreds of pipes", "held = [os.pipe() for _ in range(400)]", "return 'REACHED'"),
    _takes("makes a sparse file", "with open('big', 'wb') as big: big.truncate(1 << 33)", "return 'REACHED'"),
    _takes(
        "reserves the disk",
        "os.posix_fallocate(os.open('big', os.O_RDWR | os.O_CREAT), 0, 64 << 20)",
        "return 'REACHED'",
    ),
    _takes(
        "reserves memory that it does not use",
        "import mmap",
        "mmap.mmap(-1, 8 << 30, flags=0x4022)",
        "return 'REACHED'",
    ),
    _takes(
        "keeps memory in files without a name",
        "for number in range(60):",
        "    at = os.memfd_create(str(number))",
        "    for _ in range(4): os.write(at, bytes(1 << 20))",
        "return 'REACHED'",
        tier="strong",
    ),
    _takes(
        "makes many small files",
        "for number in range(3000): open(f'small{number}', 'w').close()",
        "return 'REACHED'",
        tier="strong",
    ),
    _takes(
        "makes many files of a megabyte",
        "for number in range(80): open(f'big{number}', 'wb').write(bytes(1 << 20))",
        "return 'REACHED'",
        tier="strong",
    ),
    _takes(
        "starts hundreds of threads",
        "import threading",
        "stop = threading.Event()",
        "held = [threading.Thread(target=stop.wait, daemon=True) for _ in range(300)]",
        "[thread.start() for thread in held]",
        "stop.set()",
        "return 'REACHED'",
        tier="strong",
    ),
    _takes(
        "lifts the limit of its own files",
        "import resource",
        "resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))",
        "open('big', 'wb').write(bytes(20 << 20))",
        "return 'REACHED'",
        tier="strong",
    ),
    _takes(
        "lifts the limit of its own memory",
        "import resource",
        "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
        "import mmap",
        "mmap.mmap(-1, 8 << 30, flags=0x4022)",
        "return 'REACHED'",
        tier="strong",
    ),
    _takes(
        "leaves a core file",
        "import resource",
        "resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))",
        "return 'REACHED'",
    ),
    _takes(
        "locks memory",
        "if libc.mlock(ctypes.create_string_buffer(4 << 20), 4 << 20): raise OSError",
        "return 'REACHED'",
        tier="strong",
    ),
)
