import { randomInt } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { idAround, millisecondOf, orderedId } from '../../../crypto/id.ts';
import { select } from '../../../database/select.ts';

const most = 1000;
const amongNewest = 20_000;
const freshMs = 10 * 60_000;
const blurMs = 10 * 60_000;

/**
 * Makes an id for an account that provisioning makes at a stranger's address. Ids hold their time,
 * so a current one would tell that there was no account. This one holds about the time of an
 * existing account (security I4).
 */
export async function idLikeOthers(ctx: Context): Promise<string> {
  const { ids } = await sampleIds(ctx);
  const like = ids.length === 0 ? undefined : ids[randomInt(ids.length)];
  // Earlier, never later: no account is made in the future.
  return like === undefined ? orderedId() : idAround(millisecondOf(like) - randomInt(blurMs));
}

/**
 * Samples the ids of some of the newest accounts. A sample is used for ten minutes, so that
 * provisioning reads few rows.
 */
async function sampleIds({ scim, now }: Context) {
  const { accountIds: known } = scim;
  if (known.ids.length > 0 && now.getTime() - known.at.getTime() < freshMs) return known;
  const rows = await select<{ id: string }>(
    `SELECT id FROM (SELECT id FROM accounts ORDER BY id DESC LIMIT ${amongNewest}) a ORDER BY random() LIMIT ${most}`,
    [],
  );
  scim.accountIds = { ids: rows.map(({ id }) => id), at: now };
  return scim.accountIds;
}
