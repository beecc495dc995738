import ctypes
import sqlite3
import subprocess
import threading

print(subprocess.run(["echo", "from a child"], capture_output=True).stdout)
sums = []


def add(n):
    sums.append(sum(range(n)))


threads = [threading.Thread(target=add, args=(100 * n,)) for n in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(sums))
try:
    {}["a"]
except KeyError as error:
    print("no", error)
print(sqlite3.connect(":memory:").execute("select 1 + 1").fetchall())
print(ctypes.CDLL(None).abs(-7))
