import { z } from 'zod';
import { instant } from '../../foundation/fields.ts';

/** `idle`: no process had the database open, so that a daemon that answers has another one. */
export const statusInput = z.strictObject({
  idle: z.boolean().optional(),
  configuration: z
    .strictObject({ file: z.string(), digest: z.string(), restDigest: z.string() })
    .nullable()
    .optional(),
});

const connection = z.enum(['none', 'saved', 'enabled']);

/** The instance at a glance. */
export const statusView = z.object({
  version: z.string(),
  baseUrl: z.string(),
  daemon: z.object({ ready: z.boolean(), message: z.string() }),
  /** `bytes` is what its files or tables take; `schema` the last migration applied. */
  database: z.object({ bytes: z.int(), schema: z.string() }),
  mail: z.boolean(),
  people: z.int(),
  /** Live ones. */
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
      /** Of its members, by whatever method. */
      lastSignInAt: instant.nullable(),
    }),
  ),
  /** One sentence each; `doctor` looks closer, and says what to change. */
  problems: z.array(z.string()),
});
