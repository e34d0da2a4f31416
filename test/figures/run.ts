import { parseArgs } from 'node:util';
import { printPlan } from './plan.ts';
import { printRequests } from './report.ts';
import { printStructure } from './structure.ts';
import { readSources } from './syntax.ts';

// Prints the figures of the code: `npm run figures`. `-- --list` names the files behind them.

const { values } = parseArgs({ options: { list: { type: 'boolean', default: false } } });
printStructure();
await printPlan(readSources(), values.list);
await printRequests(values.list);
