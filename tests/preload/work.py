# Objects of many sizes and lifetimes, strings that grow, threads, a subprocess.
import hashlib, json, random, re, subprocess, sys, threading

dice = random.Random(7)
table = {}
for i in range(120000):
    table[dice.randrange(50000)] = [i, "v" * dice.randrange(200), {"k": i % 13}]
text = json.dumps(table, sort_keys=True)
words = re.findall(r"\d+", text)
digest = hashlib.sha256(text.encode())


def churn(seed, out):
    d = random.Random(seed)
    live = [bytearray(d.randrange(1, 5000)) for _ in range(500)]
    for _ in range(20000):
        live[d.randrange(500)] = bytearray(d.randrange(1, 5000))
    out[seed] = sum(map(len, live))


sums = {}
threads = [threading.Thread(target=churn, args=(s, sums)) for s in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
child = subprocess.run([sys.executable, "-c", "print(sum(len(str(i)) for i in range(10000)))"], capture_output=True, text=True)
print(len(words), digest.hexdigest(), sorted(sums.items()), child.stdout.strip())
