import { monitorEventLoopDelay } from 'node:perf_hooks';

// Node loads this module before the daemon (`--import`). It samples the delay of the event loop
// every millisecond. The message `reset` clears the samples; `report` returns the 99th percentile
// in milliseconds. `used` returns the processor time of the process, in milliseconds.

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

process.on('message', (message) => {
  if (message === 'reset') delay.reset();
  // A sample is the whole time between two ticks, so it includes the timer's own millisecond.
  if (message === 'report') process.send?.(Math.max(0, delay.percentile(99) / 1e6 - 1));
});
process.on('message', (message) => {
  const { user, system } = process.cpuUsage();
  if (message === 'used') process.send?.((user + system) / 1000);
});
process.channel?.unref();
