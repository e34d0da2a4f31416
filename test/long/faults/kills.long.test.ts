import { test } from 'vitest';
import { killUnderLoad } from '../../support/kills.ts';

test('§8 a daemon killed a hundred times under load loses nothing and leaves no partial write', async () => {
  await killUnderLoad(100);
}, 3_600_000);
