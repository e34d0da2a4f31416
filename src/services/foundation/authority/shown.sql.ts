import { select, selectAmong } from '../../../database/select.ts';
import { readAllRows } from '../page.ts';

/** What a SCIM client has written about a person. */
interface Said {
  accountId: string;
  /** The resource as JSON. */
  resource: string;
}

/** The condition of a record that stands for its person; see `shownTo`. */
export const stands = "link IN ('attached', 'created')";

/** What the SCIM client of the organization has written about these people. */
export function findSaid(organizationId: string, accountIds: string[]): Promise<Said[]> {
  return selectAmong<Said>(
    accountIds,
    (list, organization) => `SELECT account_id AS "accountId", resource FROM scim_records
      WHERE account_id IN (${list}) AND organization_id = ${organization} AND ${stands}`,
    [organizationId],
  );
}

/** What the SCIM client of the organization has written about all its people. */
export function findAllSaid(organizationId: string): Promise<Said[]> {
  return readAllRows((after, count) =>
    select<Said & { id: string }>(
      `SELECT id, account_id AS "accountId", resource FROM scim_records
        WHERE organization_id = $1 AND ${stands} AND id > $2 ORDER BY id LIMIT $3`,
      [organizationId, after, count],
    ),
  );
}
