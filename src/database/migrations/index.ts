import { first } from './0001-first.ts';
import { twoFactor } from './0006-two-factor.ts';
import type { Migration } from './migration.ts';

/** Every migration in the order of release; append only. */
export const migrations: readonly Migration[] = [first, twoFactor];
