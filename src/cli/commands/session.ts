import type { Command } from 'commander';
import type { z } from 'zod';
import { Refusal, refuseField } from '../../errors.ts';
import type { sessionView } from '../../services/people/sessions/operations.ts';
import { noun, verb } from '../command.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/people/sessions/operations.ts');

const fields: Fields<z.output<typeof sessionView>> = [
  ['Seen', (view) => view.lastSeenAt],
  ['Method', (view) => view.method],
  ['Address', (view) => view.address, 'whole'],
  ['Browser', (view) => view.userAgent],
  ['ID', (view) => view.id, 'wide'],
];

const user = { '--user <user>': 'the account, by address or id' };

/** Declares `idctl session`. */
export function addSessionCommands(program: Command): void {
  const session = noun(
    program,
    'session',
    'Live sessions',
    'idctl session list --user ada@example.com',
  );
  verb(session, 'list', {
    summary: 'List the live sessions of an account',
    required: user,
    example: 'idctl session list --user ada@example.com',
    run: async (call) => call.table(await listed(call), fields, 'There are no live sessions.'),
  });
  verb(session, 'revoke [id]', {
    summary: 'End one session, or all sessions of an account',
    options: user,
    example: 'idctl session revoke --user ada@example.com',
    run: revoke,
  });
}

async function revoke(call: Call): Promise<void> {
  const { revokeSession } = await operations();
  const { id, user } = call.input;
  if (id === undefined && user === undefined) throw refuseField('id', 'is required, or --user');
  const named = id === undefined ? [] : [{ id }];
  const found = user === undefined ? named : await listed(call);
  const chosen = id === undefined ? found : found.filter((session) => session.id === id);
  if (id !== undefined && chosen.length === 0) {
    throw new Refusal('not_found', `${user} has no live session ${id}.`);
  }
  for (const session of chosen) await call.operate(revokeSession.forOperator, { id: session.id });
  call.show({ ended: chosen.length }, [['Ended', (view) => view.ended]]);
}

async function listed(call: Call) {
  const { listSessions } = await operations();
  return call.every(listSessions.forOperator, { user: call.input['user'] });
}
