import { select } from '../../../database/select.ts';

/** A SCIM token that is not suspended. */
interface TokenRow {
  organization_id: string;
  prefix: string;
  hash: string;
  last_used_at: Date | null;
}

/** The token with this hash, unless it is suspended. Bypasses the ORM, with one read. */
export async function findTokenRow(hash: string): Promise<TokenRow | null> {
  const [row = null] = await select<TokenRow>(
    'SELECT organization_id, prefix, hash, last_used_at FROM scim_tokens WHERE hash = $1 AND suspended_at IS NULL',
    [hash],
    { columns: { last_used_at: 'time' } },
  );
  return row;
}
