import { test } from 'vitest';
import { killUnderLoad } from '../support/kills.ts';

// `npm run test:long` kills the daemon a hundred times on each database.

test('§8 a daemon killed three times under load loses nothing and does not leave a partial write', async () => {
  await killUnderLoad(3);
}, 900_000);
