import { z } from 'zod';
import { instant } from '../../foundation/fields.ts';

export const restoreInput = z.strictObject({
  file: z.string().min(1, 'must name a file'),
  check: z.boolean().default(false),
  keepTokens: z.boolean().default(false),
});

/** The header of a backup, before the database. */
export const backupHeader = z.object({
  /** The idctl version that made it. */
  version: z.string(),
  createdAt: instant,
  database: z.enum(['sqlite', 'postgres']),
  /** The master key that opens its secrets. */
  keyId: z.string(),
  /** The last migration of the database. */
  migration: z.string(),
  /** Counted just before the backup. */
  organizations: z.int(),
  accounts: z.int(),
});

export const backupView = backupHeader.extend({ file: z.string(), bytes: z.int() });

/** The counts of what a restore has ended, suspended and switched off. */
export const restoredView = backupView.extend({
  ended: z.object({ sessions: z.int(), botTokens: z.int(), invitations: z.int() }),
  suspended: z.object({ tokens: z.int(), apps: z.int(), scimTokens: z.int() }),
  disabled: z.object({ webhooks: z.int() }),
});
