// Node loads this module before the daemon (`--import`). The message `usage` answers with the
// processor time of the process, threads included, in milliseconds, and its resident memory in MiB.

process.on('message', (message) => {
  if (message !== 'usage') return;
  const { user, system } = process.cpuUsage();
  process.send?.({ ms: (user + system) / 1000, mib: process.memoryUsage.rss() / 2 ** 20 });
});
process.channel?.unref();
