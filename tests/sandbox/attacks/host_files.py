"""Host attacks on files: reading what is not theirs by unusual ways, and changing what is not theirs."""

from __future__ import annotations

from .host_kernel import KERNEL
from .records import Host


def _does(name: str, *lines: str, before: str = "import os", needs: str = "", settle_seconds: float = 0.0) -> Host:
    body = "".join(f"    {line}\n" for line in lines)
    return Host(name, f"{before}\ndef attack(x):\n{body}", needs=needs, settle_seconds=settle_seconds)


READING = (
    _does(
        "reads by a descriptor of the path",
        "at = os.open(SECRET, os.O_PATH)",
        "return open(f'/proc/self/fd/{at}').read()",
    ),
    _does(
        "reads by openat2",
        "how = (ctypes.c_uint64 * 3)(0, 0, 0)",
        "at = call(437, -100, SECRET.encode(), ctypes.byref(how), 24)",
        "return os.read(at, 99).decode()",
        before=KERNEL,
    ),
    _does(
        "reads by a file handle",
        "handle = (ctypes.c_uint32 * 40)(128)",
        "mount = ctypes.c_int()",
        "call(NR['name_to_handle_at'], -100, SECRET.encode(), ctypes.byref(handle), ctypes.byref(mount), 0)",
        "folder = os.open(FOLDER, os.O_RDONLY)",
        "return os.read(call(NR['open_by_handle_at'], folder, ctypes.byref(handle), 0), 99).decode()",
        before=KERNEL,
        needs="root",
    ),
    _does("reads by a symbolic link of its own", "os.symlink(SECRET, 'link')", "return open('link').read()"),
    _does("reads from another current folder", "os.chdir(FOLDER)", "return open('secret').read()"),
    _does(
        "reads by a descriptor of the folder",
        "at = os.open(FOLDER, 0)",
        "return os.read(os.open('secret', 0, dir_fd=at), 99).decode()",
    ),
    _does("reads by the root of its own process", "return open('/proc/self/root' + SECRET).read()"),
    _does("reads by the root of another process", "return open(f'/proc/{VICTIM}/root' + SECRET).read()"),
    _does("reads by the folder of another process", "return open(f'/proc/{VICTIM}/cwd/secret').read()"),
    _does(
        "reads an open file of another process",
        "return [open(f'/proc/{VICTIM}/fd/{fd}').read() for fd in os.listdir(f'/proc/{VICTIM}/fd') if int(fd) > 2]",
    ),
    _does("reads the arguments of another process", "return open(f'/proc/{VICTIM}/cmdline').read()"),
    _does("reads the environment of another process", "return open(f'/proc/{VICTIM}/environ').read()"),
    _does(
        "reads the memory of another process by its map",
        "for line in open(f'/proc/{VICTIM}/maps'):",
        "    if '[stack]' in line:",
        "        start, end = (int(part, 16) for part in line.split()[0].split('-'))",
        "        with open(f'/proc/{VICTIM}/mem', 'rb', 0) as memory:",
        "            memory.seek(start)",
        "            return b'token-' + memory.read(end - start).partition(b'token-')[2][:24]",
    ),
    _does("lists a folder", "return os.listdir(FOLDER)"),
    _does("walks up to a folder", "return [names for _, names, _ in os.walk('/proc/self/cwd' + '/..' * 20 + FOLDER)]"),
    _does(
        "reads by a mapping",
        "import mmap",
        "return mmap.mmap(os.open(SECRET, 0), 0, access=mmap.ACCESS_READ)[:].decode()",
    ),
    _does("reads by the cache of sources", "import linecache", "return linecache.getline(SECRET, 1)"),
    _does(
        "copies a file to itself",
        "import shutil",
        "shutil.copyfile(SECRET, 'copy')",
        "return open('copy').read()",
    ),
    Host(
        "sees the size of a file",
        "import os\ndef attack(x): return 'REACHED' if os.stat(SECRET).st_size == 30 else ''",
        "hardened",
    ),
)
CHANGING = (
    _does("makes a file by sqlite", "import sqlite3", "sqlite3.connect(FOLDER + '/new').execute('create table t (x)')"),
    _does("makes a hard link", "os.link(SECRET, FOLDER + '/new')"),
    _does("makes a symbolic link", "os.symlink('/', FOLDER + '/new')"),
    _does("makes a pipe with a name", "os.mkfifo(FOLDER + '/new')"),
    _does("makes a folder", "os.mkdir(FOLDER + '/new')"),
    _does("makes a device", "os.mknod(FOLDER + '/new', 0o20600, os.makedev(1, 3))", needs="root"),
    _does("makes a socket", "import socket", "socket.socket(socket.AF_UNIX).bind(FOLDER + '/new')"),
    _does("renames a file", "os.rename(SECRET, FOLDER + '/new')"),
    _does(
        "exchanges two files",
        "call(NR['renameat2'], -100, SECRET.encode(), -100, (FOLDER + '/socket').encode(), 2)",
        before=KERNEL,
    ),
    _does("removes a file", "os.unlink(SECRET)"),
    _does("removes a folder", "[os.rmdir(FOLDER + '/' + name) for name in os.listdir(FOLDER) if 'token' in name]"),
    _does("changes who may read a file", "os.chmod(SECRET, 0o777)"),
    _does("changes whose a file is", "os.chown(SECRET, 12345, -1)", needs="root"),
    _does("changes the times of a file", "os.utime(SECRET, (1, 1))"),
    _does("changes attributes of a file", "os.setxattr(SECRET, 'user.koderz', b'1')"),
    _does("cuts a file", "os.truncate(SECRET, 1)"),
    _does("writes by a mapping", "import mmap", "mmap.mmap(os.open(SECRET, os.O_RDWR), 0)[:1] = b'X'"),
    _does("writes by a descriptor of another process", "open(f'/proc/{VICTIM}/cwd/new', 'w').write('x')"),
    _does("writes to shared memory", "open('/dev/shm/' + ID, 'w').write('x')"),
    _does("writes to the other folder for temporary files", "open('/var/tmp/' + ID, 'w').write('x')"),
    _does(
        "leaves an unnamed file and links it",
        "at = os.open(FOLDER, os.O_TMPFILE | os.O_RDWR)",
        "libc.linkat(-100, f'/proc/self/fd/{at}'.encode(), -100, (FOLDER + '/new').encode(), 0x400)",
        before=KERNEL,
    ),
    _does("makes another process be killed first", "open(f'/proc/{VICTIM}/oom_score_adj', 'w').write('900')"),
)
FILE_ATTACKS = READING + CHANGING
