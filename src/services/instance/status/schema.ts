import { z } from 'zod';
import { instant } from '../../foundation/fields.ts';
import { digestedFile } from '../daemons/digest.ts';

/** `idle`: no process has the database open, so a daemon that answers uses another one. */
export const statusInput = z.strictObject({
  idle: z.boolean().optional(),
  configuration: digestedFile.nullable().optional(),
});

const connection = z.enum(['none', 'saved', 'enabled']);

/** A summary of the instance. */
export const statusView = z.object({
  version: z.string(),
  baseUrl: z.string(),
  daemon: z.object({ ready: z.boolean(), message: z.string() }),
  /** `bytes` is the size of its files or tables; `schema` the last applied migration. */
  database: z.object({ bytes: z.int(), schema: z.string() }),
  mail: z.boolean(),
  people: z.int(),
  /** Live sessions. */
  sessions: z.int(),
  organizations: z.array(
    z.object({
      slug: z.string(),
      name: z.string(),
      members: z.int(),
      owners: z.int(),
      domains: z.object({ verified: z.int(), pending: z.int() }),
      sso: connection,
      ldap: connection,
      scim: z.enum(['none', 'unused', 'used']),
      /** The last sign-in of any member, by any method. */
      lastSignInAt: instant.nullable(),
    }),
  ),
  /** One sentence each. `doctor` checks more, and says what to change. */
  problems: z.array(z.string()),
});
