const { Worker, isMainThread, parentPort } = require('worker_threads');

function mix(n) {
  let sum = 0;
  for (let i = 0; i < n; i++) sum = (sum * 31 + i) % 1000007;
  return sum;
}

if (isMainThread) {
  const run = (n) => new Promise((resolve, reject) => {
    const worker = new Worker(__filename);
    worker.on('message', (sum) => worker.terminate().then(() => resolve(sum)));
    worker.on('error', reject);
    worker.postMessage(n);
  });
  console.log(mix(200000));
  Promise.all([run(1000), run(2000)])
    .then((sums) => console.log(sums.join(' ')))
    .then(() => { throw new TypeError('expected'); })
    .catch((error) => console.log(error.message));
} else {
  parentPort.on('message', (n) => parentPort.postMessage(mix(n)));
}
