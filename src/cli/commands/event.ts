import type { Command } from 'commander';
import type { z } from 'zod';
import type { eventView } from '../../services/events/schema.ts';
import { noun, verb } from '../command.ts';
import type { Fields } from '../output.ts';

const fields: Fields<z.output<typeof eventView>> = [
  ['At', (view) => view.at, 'whole'],
  ['Kind', (view) => view.kind],
  ['Actor', (view) => view.actor.name ?? view.actor.kind],
  ['Subject', (view) => view.subject?.name ?? view.subject?.id],
];

/** Declares `idctl event`. */
export function addEventCommands(program: Command): void {
  const event = noun(program, 'event', 'What happened', 'idctl event list --org acme');
  verb(event, 'list', {
    summary: 'List events, oldest first; --json prints their data too',
    required: { '--org <org>': 'the organization, by id or slug' },
    options: { '--kind <kind>': 'only events of this kind' },
    example: 'idctl event list --org acme --kind domain.verified',
    run: async (call) => {
      const { listEvents } = await import('../../services/events/list.ts');
      const { listEventsInput } = await import('../../services/events/schema.ts');
      call.table(await call.every(listEventsInput, listEvents), fields, 'There are no such events.');
    },
  });
}
