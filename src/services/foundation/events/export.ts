import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { csvOf } from '../../../text/csv.ts';
import { requireAuthority } from '../authority/require.ts';
import type { Download } from '../download.ts';
import { ref } from '../fields.ts';
import { inTurn, inTurnOfJob } from '../limits/turns.ts';
import { operation } from '../operation.ts';
import { listFilterInput, wantedBy } from './filter.ts';
import { findEvents, type Wanted } from './list.sql.ts';
import { type eventView, viewEvent } from './view.ts';

// Events as CSV or JSON Lines, for spreadsheets and other programs.

/** The formats, with their media types. */
export const eventFormats = { csv: 'text/csv', jsonl: 'application/jsonl' } as const;

/** The name of a format. */
export const eventFormat = z.enum(['csv', 'jsonl'], 'must be csv or jsonl');
type Format = z.output<typeof eventFormat>;

/**
 * Sends all events of the filter as a file, oldest first, up to the newest one at the start. Each
 * batch is a query of its own, so a slow client delays only later files of its organization.
 */
export const exportEvents = operation({
  authority: 'events.see',
  input: z.strictObject({
    org: ref,
    ...listFilterInput,
    format: eventFormat.describe('All events as a file, in place of a page as JSON.'),
  }),
  run: async (ctx, { org: _, format, ...filter }, { organization }): Promise<Download> => {
    const wanted = await wantedBy(ctx, organization.id, filter);
    const [newest] = await findEvents(wanted, { newestFirst: true, limit: 1 });
    return {
      type: eventFormats[format],
      name: `${organization.slug}-events.${format}`,
      parts: read(ctx, organization, { wanted, last: newest?.id ?? null, format }),
      inTurn: (send) => inTurn(ctx, 'download', organization, send),
    };
  },
});

const atOnce = 200;

interface Reading {
  wanted: Wanted;
  /** The id of the last event; null if there is none. */
  last: string | null;
  format: Format;
}

/** Reads the events in batches. Each takes a turn, and requires the right again (security P2). */
async function* read(
  ctx: Context,
  organization: Organization,
  { wanted, last, format }: Reading,
): AsyncGenerator<string> {
  yield await headOf(format);
  for (let after = wanted.after; last !== null && after !== last; ) {
    const batch = { ...wanted, after };
    const { found, text } = await inTurnOfJob(ctx, organization, async () => {
      await requireAuthority(ctx, 'events.see', organization.id);
      const found = await findEvents(batch, { limit: atOnce });
      const events = found.filter(({ id }) => id <= last);
      return { found, text: await eventText(events.map(viewEvent), format) };
    });
    if (text !== '') yield text;
    // Retention may have deleted the last event meanwhile.
    if (found.length < atOnce) return;
    after = found.at(-1)?.id ?? last;
  }
}

const columns = ['at', 'kind', 'actor', 'actorId', 'subject', 'subjectId', 'data'];

/** The first line of a file of this format, or nothing. */
export async function headOf(format: Format): Promise<string> {
  return format === 'csv' ? csvOf([columns]) : '';
}

/** A line for each event, in this format. */
export async function eventText(
  events: readonly z.output<typeof eventView>[],
  format: Format,
): Promise<string> {
  if (format === 'jsonl') return events.map((event) => `${JSON.stringify(event)}\n`).join('');
  return csvOf(
    events.map(({ at, kind, actor, subject, data }) => [
      at,
      kind,
      actor.name ?? actor.kind,
      actor.id ?? '',
      subject?.name ?? '',
      subject?.id ?? '',
      JSON.stringify(data),
    ]),
  );
}
