import { select } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { firstKey } from '../../foundation/page.ts';
import { insertMemberRecord } from './member.ts';

interface Row {
  id: string;
  email: string | null;
  name: string;
  joined_at: string | Date;
}

const atOnce = 100;

/** Writes records for members who joined before records existed, dated the day they joined. */
export async function recordEarlierMembers(organizationId: string): Promise<void> {
  for (let after = firstKey, rows: Row[] = []; ; after = rows.at(-1)?.id ?? after) {
    rows = await transaction(async () => {
      const some = await findUnrecorded(organizationId, after);
      for (const row of some)
        await insertMemberRecord(organizationId, row, new Date(row.joined_at));
      return some;
    });
    if (rows.length < atOnce) return;
  }
}

function findUnrecorded(organizationId: string, after: string): Promise<Row[]> {
  return select<Row>(
    `SELECT a.id, a.email, a.name, m.joined_at
       FROM memberships m JOIN accounts a ON a.id = m.account_id
       LEFT JOIN scim_records r ON r.account_id = m.account_id AND r.organization_id = m.organization_id
      WHERE m.organization_id = $1 AND m.account_id > $2 AND r.id IS NULL
      ORDER BY m.account_id LIMIT ${atOnce}`,
    [organizationId, after],
  );
}
