import type { Context } from '../../../context.ts';
import { sealedPrefix } from '../../../crypto/seal.ts';
import { inByteOrder } from '../../../database/dialect-sql.ts';
import { execute, select } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';

const batch = 100;

/** Every column that holds sealed values, bound to the `id` of their row. */
export const sealedColumns = [
  { table: 'accounts', column: 'totp_secret' },
  { table: 'instance_keys', column: 'sealed' },
  { table: 'ldap_connections', column: 'bind_password' },
  { table: 'signing_keys', column: 'private_jwk' },
  { table: 'sso_connections', column: 'client_secret' },
  { table: 'webhooks', column: 'secret' },
  { table: 'webhooks', column: 'previous_secret' },
];

type SealedColumn = (typeof sealedColumns)[number];

/** Re-seals every value that was not sealed by the current key, and returns how many. */
export async function reseal(ctx: Context): Promise<number> {
  let count = 0;
  for (const at of sealedColumns) {
    for (let more = true; more; ) {
      const done = await transaction(() => resealBatch(ctx, at));
      count += done;
      more = done > 0;
    }
  }
  return count;
}

/** Whether any value is sealed by a key other than the current one. */
export async function isAnythingFormer(ctx: Context): Promise<boolean> {
  for (const at of sealedColumns) if ((await findFormer(ctx, at, 1)).length > 0) return true;
  return false;
}

async function resealBatch({ keyring, ...ctx }: Context, at: SealedColumn): Promise<number> {
  const rows = await findFormer({ ...ctx, keyring }, at, batch);
  for (const { id, sealed } of rows) {
    const place = { ...at, row: id };
    // Skip rows that another process changed since we read them.
    await execute(`UPDATE ${at.table} SET ${at.column} = $1 WHERE id = $2 AND ${at.column} = $3`, [
      keyring.seal(keyring.open(sealed, place), place),
      id,
      sealed,
    ]);
  }
  return rows.length;
}

function findFormer(ctx: Context, { table, column }: SealedColumn, most: number) {
  const prefix = sealedPrefix(ctx.keyring.keyId);
  // An index finds these two ranges. A slash is the next character after a dot.
  const bytes = inByteOrder(column);
  const sides = [`${bytes} < $1`, `${bytes} >= $2`].map(
    (side) =>
      `SELECT id, ${column} AS sealed FROM ${table} WHERE ${column} IS NOT NULL AND ${side}`,
  );
  return select<{ id: string; sealed: string }>(`${sides.join(' UNION ALL ')} LIMIT ${most}`, [
    prefix,
    prefix.replace(/\.$/, '/'),
  ]);
}
