import { inByteOrder } from '../../../database/dialect-sql.ts';
import { execute, select } from '../../../database/select.ts';

// The SQL that finds and replaces sealed values.

/** Every column with sealed values, each bound to the `id` of its row. */
export const sealedColumns = [
  { table: 'accounts', column: 'totp_secret' },
  { table: 'instance_keys', column: 'sealed' },
  { table: 'ldap_connections', column: 'bind_password' },
  { table: 'saml_keys', column: 'private_key' },
  { table: 'signing_keys', column: 'private_jwk' },
  { table: 'sso_connections', column: 'client_secret' },
  { table: 'webhooks', column: 'secret' },
  { table: 'webhooks', column: 'previous_secret' },
];

/** One of these columns. */
export type Resealed = (typeof sealedColumns)[number];

/** Up to `max` rows whose value was not sealed by the key of this prefix. */
export function findFormer(
  { table, column }: Resealed,
  prefix: string,
  max: number,
): Promise<{ id: string; sealed: string }[]> {
  // An index finds these two ranges. A slash is the next character after a dot.
  const bytes = inByteOrder(column);
  const sides = [`${bytes} < $1`, `${bytes} >= $2`].map(
    (side) =>
      `SELECT id, ${column} AS sealed FROM ${table} WHERE ${column} IS NOT NULL AND ${side}`,
  );
  return select<{ id: string; sealed: string }>(`${sides.join(' UNION ALL ')} LIMIT ${max}`, [
    prefix,
    prefix.replace(/\.$/, '/'),
  ]);
}

/** Replaces a sealed value, unless another process has changed it meanwhile. */
export async function replaceSealed(
  { table, column }: Resealed,
  id: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await execute(`UPDATE ${table} SET ${column} = $1 WHERE id = $2 AND ${column} = $3`, [
    to,
    id,
    from,
  ]);
}
