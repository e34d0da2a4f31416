import type { z } from 'zod';
import type { credentialView } from '../services/people/credentials/credentials.ts';
import type { Change } from '../services/signin/shut-out.ts';
import type { Fields } from './output.ts';
import type { Call } from './run.ts';

interface Ended {
  sessionsEnded: number;
}

/** People and owners who sign in through a connection, and the memberships that it gave them. */
export interface Affected {
  people: string[];
  owners: string[];
  memberships: Gave;
}

type Gave = { user: string; project?: string | undefined; role: string }[];

/** Memberships as text. Without a project, the membership is in the organization. */
export function gaveText(memberships: Gave): string[] {
  return memberships.map(
    ({ user, project = 'the organization', role }) => `${user} in ${project} as ${role}`,
  );
}

/** The fields with the people who sign in through a connection, and their memberships from it. */
export const affectedFields: Fields<Pick<Affected, 'people' | 'memberships'>> = [
  ['People', (view) => view.people],
  ['Synced', (view) => gaveText(view.memberships)],
];

/** The field with the number of sessions that a command ends. */
export const sessionsEndedField: Fields<Ended>[number] = [
  'Sessions ended',
  ({ sessionsEnded }) => sessionsEnded,
];

/**
 * A warning if the change does not leave an owner a way to sign in; else empty. A dry run prints
 * it.
 */
export async function shutOutBy(call: Call, change: Change): Promise<string> {
  const { findShutOut } = await import('../services/signin/shut-out.ts');
  const { slug, owners } = await call.operate(findShutOut, { ...call.input, change });
  if (owners.length === 0) return '';
  const told = `After that, no owner of ${slug} can sign in: ${owners.join(', ')}.`;
  if (call.flags.dryRun) call.note(told);
  return told;
}

type Credential = z.output<typeof credentialView>;

const words: Record<Credential['kind'], [one: string, many: string]> = {
  password: ['a password', 'passwords'],
  totp: ['an authenticator app', 'authenticator apps'],
  passkey: ['1 passkey', 'passkeys'],
  recoveryCode: ['1 recovery code', 'recovery codes'],
  pat: ['1 token', 'tokens'],
  bot: ['1 bot token', 'bot tokens'],
  app: ['1 app', 'apps'],
  session: ['1 session', 'sessions'],
  identity: ['1 identity', 'identities'],
};

/** Describes the credentials of one kind in words: their count, organization and dates. */
export function credentialText({ kind, organization, count, first, last }: Credential): string {
  const [one, many] = words[kind];
  const what = count === 1 ? one : `${count} ${many}`;
  const whose = organization === null ? what : `${what} of ${organization}`;
  if (first === null || last === null) return whose;
  const [from, to] = [first, last].map((at) => at.slice(0, 10));
  return from === to ? `${whose} (${from})` : `${whose} (${from} to ${to})`;
}
