import { test } from 'vitest';
import { killUnderLoad } from '../../support/kills.ts';

test('§8 a daemon killed a hundred times under load loses nothing and does not leave a partial write', async () => {
  await killUnderLoad(100);
}, 3_600_000);
