import { z } from 'zod';

// The forms of a secret in a document. Each connection has one.

/** A secret that stays as it is stored. */
export const unchanged = z.strictObject({
  unchanged: z.literal(true).describe('Keep the stored secret.'),
});

const withheld = z.strictObject({
  withheld: z.literal(true).describe('Plan with a secret that is not sent, and not compared.'),
});

const onlyInFile = 'env and file work only in a document that idctl reads';

/** A secret as sent to the server: its value, or `unchanged` to keep the stored one. */
export const sentSecret = <Value extends z.ZodType>(value: Value) =>
  z.union(
    [z.strictObject({ value }), unchanged],
    `must be {value: …} or {unchanged: true}; ${onlyInFile}`,
  );

/** A secret as sent for a plan only: it may also stay with the sender (security X12). */
export const planSecret = <Value extends z.ZodType>(value: Value) =>
  z.union(
    [z.strictObject({ value }), unchanged, withheld],
    `must be {value: …}, {unchanged: true} or {withheld: true}; ${onlyInFile}`,
  );

/** A secret in the admin's file: `env` and `file` are read where the command runs. */
export const namedSecret = () =>
  z.union([
    z.strictObject({
      env: z
        .string()
        .describe(
          'The environment variable with the secret: IDCTL_SECRET_*, or one that --allow-env names.',
        ),
    }),
    z.strictObject({
      file: z
        .string()
        .describe('The file with the secret, below the folder of the document or --secrets.'),
    }),
    unchanged,
  ]);

/** The secret as the operation takes it; undefined to keep the stored one. */
export function secretIn(secret: { value: string } | object | undefined): string | undefined {
  const value = secret !== undefined && 'value' in secret ? secret.value : undefined;
  return typeof value === 'string' ? value : undefined;
}
