// Loaded before the daemon by `--import`: answers each message with what Node counts of the process.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ ...process.memoryUsage(), cpu: (user + system) / 1000 });
});
process.channel?.unref();
