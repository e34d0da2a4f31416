import type { z } from 'zod';
import type { credentialView } from '../services/people/credentials/credentials.ts';

type Credential = z.output<typeof credentialView>;

const words: Record<Credential['kind'], [one: string, many: string]> = {
  password: ['a password', 'passwords'],
  totp: ['two-factor', 'two-factor'],
  pat: ['1 token', 'tokens'],
  bot: ['1 bot token', 'bot tokens'],
  app: ['1 app', 'apps'],
  session: ['1 session', 'sessions'],
  identity: ['1 identity', 'identities'],
};

/** Describes a kind of credential for a person: its count, its organization and its dates. */
export function credentialText({ kind, organization, count, first, last }: Credential): string {
  const [one, many] = words[kind];
  const what = count === 1 ? one : `${count} ${many}`;
  const whose = organization === null ? what : `${what} of ${organization}`;
  if (first === null || last === null) return whose;
  const [from, to] = [first, last].map((at) => at.slice(0, 10));
  return from === to ? `${whose} (${from})` : `${whose} (${from} to ${to})`;
}
