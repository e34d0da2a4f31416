import { setTimeout as pause } from 'node:timers/promises';

// Asks a URL every 50 ms from a process of its own. The message `report` returns the longest time
// that an answer took since the last report.

const [url = ''] = process.argv.slice(2);
let longest = 0;
process.on('message', () => {
  process.send?.(longest);
  longest = 0;
});

for (;;) {
  const began = performance.now();
  await (await fetch(url)).arrayBuffer();
  const took = performance.now() - began;
  longest = Math.max(longest, took);
  await pause(Math.max(0, 50 - took));
}
