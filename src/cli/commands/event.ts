import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { z } from 'zod';
import { refuseField } from '../../errors.ts';
import { parseField } from '../../input.ts';
import type {
  operatorEventPage,
  operatorEventView,
} from '../../services/foundation/events/view.ts';
import type { operatorFoundView } from '../../services/signin/reference.ts';
import { noun, verb } from '../command.ts';
import { fillOrganization } from '../organization.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/foundation/events/operations.ts');

type Event = z.output<typeof operatorEventView>;
type Page = z.output<typeof operatorEventPage>;
type Found = z.output<typeof operatorFoundView>;

/**
 * The actor of an event. A sign-in or sign-up is recorded as anonymous; here its subject is the
 * actor. The actor of a refusal or of a token reuse stays anonymous.
 */
function actorOf({ kind, actor, subject, address }: Event): string | null {
  if (actor.kind !== 'anonymous') return actor.name ?? actor.kind;
  if (subject?.type !== 'user' || /\.refused$|\.reuse\./.test(kind)) return 'anonymous';
  return address ?? subject.name ?? subject.id;
}

function subjectOf({ address, subject }: Event): string | undefined {
  return address ?? subject?.name ?? subject?.id;
}

const fields: Fields<Event> = [
  ['At', (view) => view.at],
  ['Kind', (view) => view.kind, 'whole'],
  ['Actor', actorOf, 'below'],
  ['Subject', subjectOf, 'below'],
  ['Reason', ({ data: { reason } }) => (typeof reason === 'string' ? reason : null), 'below'],
];

const block: Fields<Found> = [
  ['Reason', ({ reason, attempt }) => reason ?? (attempt?.ok ? 'signed in' : null)],
  ['At', ({ event, attempt }) => event?.at ?? attempt?.at],
  ['Event', ({ event }) => event?.kind],
  ['Event ID', ({ event }) => event?.id],
  ['Subject', ({ event }) => event && subjectOf(event)],
  ['Org', ({ event }) => event?.organization],
  ['Stage', ({ attempt }) => attempt?.stage],
  ['E-mail', ({ attempt }) => attempt?.email],
];

const everywhere: Fields<Event> = [...fields, ['Org', (view) => view.organization, 'below']];

const options = {
  '--org <org>': 'only events of this organization, by id or slug',
  '--kind <kind>': 'only events of this kind, or of a group: scim.*',
  '--person <user>': 'only what this account did or had done to it, by address or id',
};

const everyMs = 1000;

export function addEventCommands(program: Command): void {
  const event = noun(program, 'event', {
    summary: 'Audit log',
    example: 'idctl event list --org acme',
  });
  verb(event, 'list', {
    summary: 'List events, oldest first; --json prints their data too',
    options: {
      ...options,
      '--from <when>': 'since a day (UTC), a time, or an age such as 30m, 24h or 7d',
      '--to <when>': 'until the end of a day, a time, or an age',
      '--since <when>': 'the same as --from',
      '--format <csv|jsonl>': 'print each event while it is read, as CSV or JSON Lines',
    },
    example: "idctl event list --org acme --kind 'member.*' --since 24h",
    run: async (call) => {
      if (call.server !== null) await fillOrganization(call);
      if (call.input['format'] !== undefined) return printFile(call);
      const { listAllEvents, listEvents } = await operations();
      // The host lists the events of the instance; a remote server, those of one organization.
      const listing = call.server === null ? listAllEvents : listEvents;
      const events = await call.every<Event>(listing);
      const once = new Map(events.map((one) => [one.id, one]));
      const shown = [...once.values()];
      const organizations = new Set(shown.map(({ organization }) => organization));
      call.table(shown, organizations.size > 1 ? everywhere : fields, 'There are no such events.');
    },
  });
  verb(event, 'show <reference>', {
    summary: 'Show what the reference of a refused sign-in means',
    options: { '--org <org>': 'only what concerns this organization, by id or slug' },
    example: 'idctl event show 019aa8f0-5a2c-7c3e-9d41-2f7c5d0f6a11',
    run: async (call) => {
      if (call.server !== null) await fillOrganization(call);
      const { findAnyReference, findReference } = await import(
        '../../services/signin/reference.ts'
      );
      const finding = call.server === null ? findAnyReference : findReference;
      await call.perform<Found>(finding, block);
    },
  });
  verb(event, 'tail', {
    summary: 'Print events as they happen, a line each, until Ctrl-C',
    options,
    example: "idctl event tail --org acme --kind 'member.*'",
    run: tail,
  });
}

async function readPage(call: Call, input: Record<string, unknown>): Promise<Page> {
  const { listAllEvents, listEvents } = await operations();
  const listing = call.server === null ? listAllEvents : listEvents;
  return call.operate<Page>(listing, { ...input, limit: 200 });
}

/** Prints all events in a format, page by page, so that a long list does not fill the memory. */
async function printFile(call: Call): Promise<void> {
  const { eventFormat, eventText, headOf } = await import(
    '../../services/foundation/events/export.ts'
  );
  const { format: given, ...filter } = call.input;
  const format = parseField('format', eventFormat, String(given));
  if (call.flags.json) throw refuseField('--json', 'cannot be used with --format');
  let page = await readPage(call, filter);
  call.print(await headOf(format));
  call.print(await eventText(page.items, format));
  while (page.hasMore) {
    // A page may repeat events of the page before.
    const before = new Set(page.items.map(({ id }) => id));
    page = await readPage(call, { ...filter, cursor: page.nextCursor });
    const further = page.items.filter(({ id }) => !before.has(id));
    call.print(await eventText(further, format));
  }
}

async function tail(call: Call): Promise<void> {
  if (call.server !== null) await fillOrganization(call);
  const over = ended();
  // With `--org`, all events belong to one organization, so its column is left out.
  const columns = call.input['org'] === undefined ? everywhere : fields;
  // Reads from one minute back, because a daemon's clock may be behind. Prints only later events.
  let page = await readPage(call, { ...call.input, since: '1m' });
  while (page.hasMore) page = await readPage(call, { ...call.input, cursor: page.nextCursor });
  let cursor = page.nextCursor ?? undefined;
  call.note('Waiting for events. Press Ctrl-C to stop.');
  for (let shown = new Set(page.items.map(({ id }) => id)); ; ) {
    page = await readPage(call, { ...call.input, cursor });
    for (const event of page.items) if (!shown.has(event.id)) call.line(event, columns);
    shown = new Set([...page.items.map(({ id }) => id), ...(page.items.length > 0 ? [] : shown)]);
    cursor = page.nextCursor ?? cursor;
    const wait = pause(page.hasMore ? 0 : everyMs);
    if ((await Promise.race([over, wait])) === 'over') return;
  }
}

/** Resolves at SIGINT or SIGTERM, or when the reader closes the output. */
async function ended(): Promise<'over'> {
  const closed = new Promise((resolve) => process.stdout.on('error', resolve));
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), closed]);
  return 'over';
}
