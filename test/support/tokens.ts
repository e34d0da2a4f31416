import { createToken } from '../../src/services/people/tokens/operations.ts';
import { person, signedIn } from './builders.ts';
import type { Answer } from './http.ts';
import type { Idctl } from './idctl.ts';

/** A token of somebody new: its view and value, its owner, and what `GET /me` answers to it. */
export async function tokenOf(
  idctl: Idctl,
  given: Partial<Parameters<typeof createToken>[1]> = {},
) {
  const user = given.user ?? (await person(idctl)).id;
  const made = await createToken(idctl.operator(), { user, name: 'ci', ...given });
  return { ...made, user, use: () => useToken(idctl, made.token) };
}

/** What `GET /me` answers to a token. */
export function useToken(idctl: Idctl, token: string): Promise<Answer> {
  return idctl.client().get('/api/v1/me', { authorization: `Bearer ${token}` });
}

/** Somebody new, signed in by password. */
export async function signedInPerson(idctl: Idctl) {
  const { id, email } = await person(idctl);
  return { ...(await signedIn(idctl, email)), id, email };
}
