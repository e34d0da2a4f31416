import { z } from 'zod';
import { csvOf } from '../../../text/csv.ts';
import type { Download } from '../download.ts';
import { ref } from '../fields.ts';
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
 * Sends all events of the filter as a file, oldest first, up to the newest one at the start. It
 * holds nothing between two batches, so a slow client delays no one.
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
      parts: read(wanted, newest?.id ?? null, format),
    };
  },
});

const atOnce = 200;

/** Reads the events up to the last id in batches, each in a query of its own. */
async function* read(wanted: Wanted, last: string | null, format: Format): AsyncGenerator<string> {
  yield await headOf(format);
  for (let after = wanted.after; last !== null && after !== last; ) {
    const found = await findEvents({ ...wanted, after }, { limit: atOnce });
    const events = found.filter(({ id }) => id <= last);
    if (events.length > 0) yield await eventText(events.map(viewEvent), format);
    // Retention may have deleted the last event meanwhile.
    if (events.length < atOnce) return;
    after = events.at(-1)?.id ?? last;
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
