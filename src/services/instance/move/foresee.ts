import type { z } from 'zod';
import { databaseRefusal } from '../../../database/refusals.ts';
import {
  addresses,
  examineSource,
  examineTarget,
  type Moving,
  onSource,
  total,
} from './examine.ts';
import type { foreseenView } from './schema.ts';
import { countTables, requireUnused } from './source.ts';

type Foreseen = z.output<typeof foreseenView>;

/** Reports what a move would copy, and all reasons to refuse the move now. Writes nothing. */
export async function foreseeMove(moving: Moving): Promise<Foreseen> {
  const { from, clock } = moving;
  const known = await examineSource(moving);
  const { tables, moved } = known;
  const refusals: Foreseen['refusals'] = [];
  const tried = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      const refusal = databaseRefusal(error);
      if (refusal === null) throw error;
      const { code, message, hint = null } = refusal;
      refusals.push({ code, message, hint });
    }
  };
  await tried(() => requireUnused(from, tables, clock()));
  let released = false;
  await tried(async () => {
    ({ released } = await examineTarget(moving, known));
  });
  if (released && moved !== null) throw moved;
  let counted: Foreseen['tables'] = [];
  await tried(async () => {
    counted = await onSource(from, (connection) => countTables(connection, tables));
  });
  return { ...addresses(moving), rows: total(counted), tables: counted, refusals };
}
