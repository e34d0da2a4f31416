import { idOfInstant } from '../../../crypto/id.ts';
import { select } from '../../../database/select.ts';

/** The first and the last event of each day after one instant, up to another. */
export function readDays(after: Date, until: Date): Promise<{ first: Date; last: Date }[]> {
  // Ids are ordered by time, so the newest rows are found without a scan.
  return select<{ first: Date; last: Date }>(
    `SELECT min(at) AS first, max(at) AS last FROM events
      WHERE id > $1 AND at > $2 AND at <= $3
      GROUP BY substr(CAST(at AS TEXT), 1, 10) ORDER BY 1`,
    [idOfInstant(after.getTime()), after, until],
    { columns: { first: 'time', last: 'time' } },
  );
}
