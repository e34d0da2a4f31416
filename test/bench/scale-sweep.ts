import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openApp } from '../../src/app.ts';
import { openContext } from '../../src/context.ts';
import { sweepExpired } from '../../src/services/instance/upkeep.ts';
import { configOf } from './scale-fill.ts';

// A separate process that sweeps on each message. It returns the processor time of the sweep and
// the longest delay of its event loop, in milliseconds.

const [database = '', keyFile = ''] = process.argv.slice(2);
const app = await openApp({ config: configOf(database, keyFile) }, { migrate: 'already' });
const delay = monitorEventLoopDelay({ resolution: 1 });

process.on('message', async () => {
  delay.reset();
  delay.enable();
  const before = process.cpuUsage();
  await sweepExpired(openContext(app, { kind: 'system', name: 'sweep' }));
  const { user, system } = process.cpuUsage(before);
  const ms = (user + system) / 1000;
  delay.disable();
  process.send?.({ ms, longest: delay.max / 1e6 });
});
process.once('disconnect', () => void app.close());
process.send?.('ready');
