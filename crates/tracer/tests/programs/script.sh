#!/bin/bash
# Children, pipes, subshells, a script as a child, and an exit code.
cd "$(dirname "$0")" || exit 1
echo "$(echo hello | tr a-z A-Z)"
seq 1 100 | sort -r | head -n 3
for code in 1 2 3; do
  (exit $code)
  echo "subshell $code: $?"
done
cat <(echo from a substitution)
sleep 0.05 &
wait
if [ $# -eq 0 ]; then
  "./$(basename "$0")" again | grep -c hello
fi
exit 7
