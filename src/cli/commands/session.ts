import type { Command } from 'commander';
import type { z } from 'zod';
import { Refusal, refuseField } from '../../errors.ts';
import type { sessionView } from '../../services/people/sessions/operations.ts';
import { programOf } from '../../services/people/sessions/program.ts';
import { counted } from '../../text/words.ts';
import { noun, user, verb } from '../command.ts';
import type { Fields } from '../output.ts';
import { canAsk } from '../prompt.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/people/sessions/operations.ts');

const fields: Fields<z.output<typeof sessionView>> = [
  ['Seen', (view) => view.lastSeenAt],
  ['Browser', ({ userAgent }) => userAgent && programOf(userAgent), 'whole'],
  ['Method', (view) => view.method, 'below'],
  ['Address', (view) => view.address, 'below'],
  ['ID', (view) => view.id, 'whole'],
];

export function addSessionCommands(program: Command): void {
  const session = noun(program, 'session', {
    summary: 'Live sessions',
    example: 'idctl session list --user ada@example.com',
  });
  verb(session, 'list', {
    summary: 'List the live sessions of an account',
    required: user,
    example: 'idctl session list --user ada@example.com',
    run: async (call) => call.table(await listed(call), fields, 'There are no live sessions.'),
  });
  verb(session, 'revoke [id]', {
    summary: 'End one session, or all sessions of an account',
    detail: 'It asks only on a terminal, so that scripts can revoke sessions in an emergency.',
    options: user,
    rehearsable: true,
    example: 'idctl session revoke --yes --user ada@example.com',
    run: revoke,
  });
}

async function revoke(call: Call): Promise<void> {
  const { revokeSession } = await operations();
  const { id, user } = call.input;
  if (id === undefined && user === undefined)
    throw refuseField('id', 'is required, unless you give --user');
  const named = id === undefined ? [] : [{ id }];
  const found = user === undefined ? named : await listed(call);
  const chosen = id === undefined ? found : found.filter((session) => session.id === id);
  if (id !== undefined && chosen.length === 0) {
    throw new Refusal('not_found', `${user} has no live session ${id}.`);
  }
  const { dryRun } = call.flags;
  if (!dryRun && canAsk() && chosen.length > 0) await call.confirm(questionOf(call, chosen.length));
  const run = dryRun ? call.rehearse : call.operate;
  for (const session of chosen) await run(revokeSession.forOperator, { id: session.id });
  if (dryRun) call.note('Dry run: nothing was changed.');
  call.show({ ended: chosen.length }, [['Ended', (view) => view.ended]]);
}

function questionOf({ input: { user } }: Call, count: number): string {
  const whose = user === undefined ? '' : ` of ${String(user)}`;
  return `End ${counted(count, 'session')}${whose}?`;
}

async function listed(call: Call) {
  const { listSessions } = await operations();
  return call.every(listSessions.forOperator, { user: call.input['user'] });
}
